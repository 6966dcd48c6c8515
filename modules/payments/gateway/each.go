package gateway

// Each is what is kept apart for each gateway: a column of ids, a query, a count. A row's gateway
// says which of them is meant.
type Each[T any] struct{ GWA, GWB T }

// Of is what is a gateway's.
func (e Each[T]) Of(n Name) T {
	if n == GWA {
		return e.GWA
	}
	return e.GWB
}

// ByName is all of it by the names of the gateways.
func (e Each[T]) ByName() map[string]T {
	all := make(map[string]T, len(traits))
	for _, n := range Names() {
		all[string(n)] = e.Of(n)
	}
	return all
}
