// Package stage is what the sandbox gateways stand on: a virtual clock, a webhook queue, faults on demand, a journal,
// a table of control routes, a state file and the PIX payment code. It knows neither gateway; each brings its own
// routes, objects, signature and success rule.
//
// A gateway is built like this:
//
//	s, err := stage.New(stage.Options{Name: "gwa", StateFile: …, Webhooks: …})
//	s.Keep("payments", &g.payments)                   // a stage.Table, with the objects of the last run
//	s.Clock.Handle("pix_expire", g.expirePIX)         // before Start
//	s.Control(stage.Control{Method: "POST", Path: "/_sandbox/pix/{id}/pay", About: "…", Do: …})
//	g.handler = s.Handler(g.routes())
//	s.Start()
//	defer s.Close()
//
// Words: a call is one HTTP request of the client. An event is what happened; a delivery is that event on its way to
// the webhook address, with its attempts. A control is a route below /_sandbox/ (and always a Go method, too). A
// switch is a control that changes how later deliveries go.
//
// Locking: Stage.Lock guards the gateway's objects. The gateway takes it in its routes and exported methods; clock
// jobs run, and tables are saved, with it held. Clock.At, Clock.Now, Clock.Cancel and Stage.Emit may be called with
// it held; Clock.Advance, Stage.Flush and Webhooks.Settle must not be.
//
// Times: the clock is virtual and only goes forward. Retries of webhooks wait on the virtual clock, so advancing it
// brings them forward; signatures carry the receiver's time (WebhookOptions.ReceiverNow), because it compares them
// with its own clock.
package stage
