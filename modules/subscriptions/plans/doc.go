// Package plans holds what is sold, and moves subscriptions from one plan to another.
//
// Owns: plans and plan_moves; /plans…; product and price of a plan at gateway B.
//
// Does not own: who may move a subscription (room admin).
package plans
