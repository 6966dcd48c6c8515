// Package customers owns what customers do with their own account and admins with those of
// customers: what stands in it, the file of all that is held about somebody, and the deletion
// of an account (accounts.deletions), which a job finishes once nothing more is charged.
//
// It does not own the rows and the rules of their fields, which are those of package identity,
// nor what customers buy: modules above are asked through Above.
package customers
