package accounts

// SearchedBy is the expression that searches of people ask.
const SearchedBy = searchedBy
