// Package trail owns the audit trail (accounts.audit_log): what admins and the platform
// changed, append-only, in the transaction of the change. Of a deleted person the values go
// and the fact stays.
//
// It does not decide what is told: all modules tell it through package audit.
package trail
