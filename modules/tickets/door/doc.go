// Package door is the room of the check-in: the signed codes that tickets are shown as, what a
// door device needs without network, and the use of a ticket, on line or from scans that are
// uploaded later.
//
// It owns no table: it uses tickets, which are of the room events, by one compare-and-set a
// ticket. The keys are derived from FILE_KEY; a code says ticket and event, and nothing of a person.
package door
