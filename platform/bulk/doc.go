// Package bulk does one thing to all records that a filter matches: a job calls the API's own operation for each, as
// whoever asked for it, so that rights, checks, audit trail and sentences are those of the single act.
//
//	GET  /admin/bulk-acts              admin  the caller's last ones, of everybody for root
//	POST /admin/bulk-acts              admin  begin one; the count that was seen is confirmed
//	GET  /admin/bulk-acts/{id}         admin  how far it is
//	GET  /admin/bulk-acts/{id}/events  admin  the same as it goes on
//	POST /admin/bulk-acts/{id}/stop    admin  after the record under way
//	GET  /admin/bulk-acts/{id}/rows    admin  what became of each record, and why
//	GET  /admin/bulk-acts/{id}/result  admin  the same as a CSV file
//
// The records are those of the moment of confirming, by their ids. A record under way when the process dies is done
// again, unless its act may not be: then it is unknown. Whoever asked may sign out meanwhile: that they are enabled,
// their rights, and that neither tokens of that age nor the session were ended by anything else, are read anew for each
// record, which fails where they may not do it any more.
package bulk
