package accounts

import "marquee/modules/accounts/identity"

// SearchedBy is the expression that searches of people ask.
const SearchedBy = identity.SearchedBy
