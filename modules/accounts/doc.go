// Package accounts owns the users, admins and customers alike, in one table:
// their logins, passwords, profiles, tokens, and the 6-digit codes that prove an
// e-mail address.
//
// It does not own what a customer buys: the subscription that
// current_subscription_id points to, the gateways' records behind
// gwa_customer_id and gwb_customer_id, and the promo code given at signup belong
// to upper modules, which write those fields through this package.
//
// Rooms, lower first: identity owns the users' rows and the rules of their fields, trail the
// audit trail, signins the sessions that people see and end, totp second factors, sessions passwords, tokens,
// devices, throttles and who calls, passkeys signing in without a password, factors how second factors are set up, and
// all that is beside a password taken away, codes what
// is proved by mail: verification, reset of a password, change of an e-mail, signup
// the making of users, customers what they and admins do with their accounts, and deletions, users
// the admins and their profiles. This package makes them, lists their routes and jobs, and is
// the door of other modules.
//
// Words:
//
//   - A login is a username or an e-mail. All logins of all users share one name
//     space that ignores case (accounts.logins).
//   - A profile is a row of accounts.users_type: lists of handler names that the
//     admins who carry it may call. Root may call all.
//   - A code is six digits, mailed. The digits are derived from a server key and
//     the row's id, so they stand neither in the database nor in a job.
//   - A token is a signed JWT, access or refresh; nothing is kept of it. The
//     instant tokens_valid_after ends a user's earlier ones; one access token may
//     outlive it, the one that changed its owner's password.
//   - A session is a sign-in that goes on (accounts.sessions). Its tokens name it, and are
//     refused once it is ended; those of before sessions name none.
//   - A second factor is a code of an authenticator, or a recovery code in its place, each
//     taken once, that is asked for beside the password of users who set one up.
//   - A passkey signs a challenge of ours, each once, by which its owner signs in without a
//     password: WebAuthn. It is two factors by itself.
//   - Root is an admin with is_root: they pass every check, and only root changes
//     root. Who is root and who carries which profile is read at each request.
//   - The audit trail (accounts.audit_log) tells what admins changed, append-only.
//     It hears of them from all modules through package audit. When a person is
//     deleted, the values it holds about them are erased, and the fact stays.
//   - A throttle counts failures in a row at an account or from a client address;
//     a quota counts what is used of a number a day or minute. Both live in the
//     database, under a MAC of whom they concern.
//   - A deletion closes the account at once; a job stops the billing and then
//     erases it. What modules above hold is reached through the interfaces
//     Billing, PersonalData, Purchases and SubscriptionSync (Above).
//   - A tombstone is the row of a deleted user: deleted_at is set, its logins are
//     free again, and money records still point to it.
//
// Timestamps: created_at and updated_at are shown under these names and as
// register_date and register_update_date. All are UTC with milliseconds.
package accounts
