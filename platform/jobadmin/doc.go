// Package jobadmin is what staff see of jobs and queues, and what they do to them.
//
//	GET  /admin/jobs                   admin  the last ones, by state, kind and queue
//	POST /admin/jobs/{id}/retry        admin  again what was given up or cancelled
//	POST /admin/jobs/{id}/run          admin  at once what waits for its time
//	POST /admin/jobs/{id}/cancel       root
//	GET  /admin/queues                 admin  what waits, and which are paused
//	POST /admin/queues/{name}/pause    root
//	POST /admin/queues/{name}/resume   root
//
// Every job may run twice, so that retrying is safe; one that is cancelled is found again by the sweep or the
// invariant of whatever needs it (CONTRIBUTING.md, A job). Arguments and errors name people and ids of gateways: only
// root users read them. Each act is one transaction with its entry in the audit trail.
package jobadmin
