// Package catalog owns the videos and what groups them: categories, tags and
// seasons; the stream URLs; and how far each user has watched.
//
// It does not own users or subscriptions (it asks their modules who may watch),
// stored files (thumbnails are ids of them), or the videos' bytes, which lie at
// external hosts.
//
// # Words
//
// A video's video_id is the address at its host, not an id of ours. Its tags are
// free words; its tags_id name rows of the tags collection. A category, tag or
// season is in use while a video names it, and is then not deleted. Computed
// names (category_name, tags_name, season_name) are columns that triggers keep,
// so that filters and sorts on them need no join. The catalogue's version is a
// number that grows with every transaction that writes to it.
//
// # Who sees what
//
// A customer with an active subscription lists every video, as an admin does:
// enable and expiration_date are fields like others, and the client filters by
// them, as the contract says (docs/contract/catalogue.md, Videos). A disabled or expired video has no
// stream URL for a customer (docs/contract/catalogue.md, Stream URLs).
//
// The watch history is each user's own, with or without a subscription; it goes
// with the video and with the customer.
//
// # The list's hot path
//
// One round trip asks who the caller is, whether they may watch, and either for the
// page or, when the page is in memory, for the catalogue's version. A page of that
// version is shown; another is read anew, once for all who wait for it. Since each
// request asks, no process shows a page that an acknowledged write has changed.
//
// # Timestamps
//
// register_update_date is the last edit of the record itself; a rename of its
// category leaves it. release_date and expiration_date are the editor's.
package catalog
