// Package attacks holds no code of the platform, only what attackers do to it:
// each test is one attack, on the platform as it is composed and over HTTP, and
// says what it earns them. Files are named by what is attacked.
package attacks
