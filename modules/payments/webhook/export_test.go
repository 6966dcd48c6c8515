package webhook

// WithoutPerson is how a logged webhook forgets a deleted customer.
var WithoutPerson = withoutPerson

// CountsUnsigned is whether an event that nothing signs may stand without its gateway being asked.
var CountsUnsigned = countsUnsigned
