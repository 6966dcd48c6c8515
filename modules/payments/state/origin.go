package state

// Origin says who asked for a refund, or decided about a case.
type Origin string

// The origins.
const (
	ByPlatform Origin = "platform" // by itself; of a refund, also because a customer withdrew
	ByAdmin    Origin = "admin"
	ByGateway  Origin = "gateway" // learned from it
)
