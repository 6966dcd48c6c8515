// Package secrettest finds secrets where they must not be: in any row of a test's database,
// River's job arguments among them, and in anything that was logged.
//
// Nobody has to ask for it. apitest notes each password, code, card number and token that
// goes through an API in a test, by the name of its field; pgtest looks through each database
// at the end of its test; Logger looks through what was logged. So the whole suite is the
// search, and a new route is in it with its first test.
//
// A secret counts for the test that used it, with its subtests. Beside the noted ones, the
// sandbox's public card numbers and the fields of a card's verification code are never allowed.
package secrettest
