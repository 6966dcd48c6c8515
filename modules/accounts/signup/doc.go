// Package signup makes users: customers who sign up, buyers without a login at the checkout,
// and those whom the command line and the sample data make. It tells beforehand whether an
// address or a tax id is free.
//
// It owns no table: the rows are those of package identity, the codes that are mailed those of
// package codes. Admins who make admins (POST /users) do so through package users.
package signup
