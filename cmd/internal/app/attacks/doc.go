// Package attacks holds no code of the platform, only what attackers do to it:
// each test is one attack, on the platform as it is composed and over HTTP, and
// says what it earns them. Files are named by what is attacked.
//
//   - misspelt_member_test.go: a member in another letter case, or twice, passes the
//     schema by one value and is read by another
//   - money_test.go: amounts beyond every bound break the figures for good
//   - webhook_test.go: forged webhooks fill the disk, and earn the gateway refusals; old
//     ones are sent again
//   - film_test.go: the film is had without paying, by a file route, a range or a known tag
//   - overload_test.go: one slow table, or many requests, keep everybody waiting
//   - promo_code_test.go: codes are guessed where nothing counts the guesses
//   - password_test.go: guesses at a password lock its owner out
//   - mail_test.go: mails are poured into somebody's box
//   - seats_test.go: places are held, again and again, and nobody pays
//   - rights_test.go: an admin reaches what their rights do not name
//   - browser_test.go: a page of the attacker frames answers, or sets the device cookie
//   - broken_request_test.go: bodies cut short and dates beyond the last year become
//     errors of ours
//
// Attacks on accounts stand with modules/accounts, whose clock and mails they need. What
// every route has to stand is in package app: TestBadInput, TestNumbersAreBounded,
// TestOwnership, TestMassAssignment, and TestRoutesUnderAttackSoak, which plays the bytes
// of all these attacks at random.
package attacks
