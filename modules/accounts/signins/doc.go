// Package signins owns the sessions that people see and end (accounts.sessions): a row a sign-in, with the
// device, the address and when its last tokens were issued. An ended one refuses the tokens that name it, until
// the last of them is over.
//
// It does not own tokens and how somebody signs in, which are the matter of package sessions; that writes the
// rows through this package. Whether a session goes on is read with who calls, by accounts.caller.
package signins
