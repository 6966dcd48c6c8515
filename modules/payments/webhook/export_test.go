package webhook

// WithoutPerson is how a logged webhook forgets a deleted customer.
var WithoutPerson = withoutPerson
