package main

// faults are what the tests have to find. Code that moves takes its fault along; who
// rewrites the lines of one plants it anew in what they become, with the same meaning.
var faults = []fault{
	// Money.
	{
		name: "money-sign", breaks: "An amount below zero is shown without its sign.", where: "money.Cents.String",
		old: `sign, n = "-", -n`, new: `sign, n = "", -n`,
		below: "platform/money", tests: []string{"TestCentsAsPeopleWriteThem", "TestReaisJSON", "TestParse"},
	},
	{
		name: "refund-cap", breaks: "More may be asked back than is left of a payment.",
		where: "refund.Refunds.commitRefund",
		old:   `if refund.Amount <= 0 || refund.Amount > left {`, new: `if refund.Amount <= 0 {`,
		below: "modules/payments", tests: []string{"TestARefundAtTheConsoleLowersWhatIsLeft"},
	},
	{
		name: "refund-left-sign", breaks: "What was given back adds to what is left of a payment.",
		where: "ledger.LeftOf",
		old:   `paid -= row.Amount`, new: `paid += row.Amount`,
		below: "modules/payments",
		tests: []string{
			"TestARefundUnderWayAtGatewayAAloneLowersWhatIsLeft", "TestARefundAtTheConsoleLowersWhatIsLeft",
		},
	},
	{
		name:   "refund-totals-added",
		breaks: "Totals that a gateway tells of its refunds are added up, though each holds those before it.",
		where:  "ledger.refundedTotal",
		old:    `gross = max(gross, until)`, new: `gross += until`,
		below: "modules/payments", tests: []string{"TestRefundedTotal"},
	},
	{
		name: "payment-settled-twice", breaks: "Each report of a payment passes for the first, and is worked again.",
		where: "ledger.Ledger.RecordPaymentTx",
		old:   `return false, s.cases.confirmAgainTx(`, new: `return true, s.cases.confirmAgainTx(`,
		below: "modules/payments",
		tests: []string{"TestOneOfManyAtOnceIsFirst", "TestCardReceivedDaysAfterConfirmedCountsOnce"},
	},
	{
		name: "event-applied-twice", breaks: "A repeated webhook is applied again.", where: "webhook.Webhooks.claimTx",
		old: `return claimed == 1, nil`, new: `return claimed <= 1, nil`,
		below: "modules/payments", tests: []string{"TestFiveDeliveriesAtOnceHaveOneEffect"},
	},
	{
		name: "dispute-older-report", breaks: "An older report of a dispute undoes a newer one.",
		where: "ledger.Ledger.moveDisputeTx",
		old:   `older := d.At.Before(known.ReportedAt)`, new: `older := d.At.After(known.ReportedAt)`,
		below: "modules/payments", tests: []string{"TestDisputeStory"},
	},
	{
		name: "disputed-refund", breaks: "Money is given back that the payer's bank holds.",
		where: "ledger.Reader.NotDisputed",
		old:   `if state == gateway.DisputeOpen || state == gateway.DisputeLost && lost >= amount {`,
		new:   `if state == gateway.DisputeLost && lost >= amount {`,
		below: "modules/subscriptions", tests: []string{"TestNoRefundOfADisputedPayment"},
	},
	// What becomes of calls to the gateways.
	{
		name: "one-empty-check", breaks: "One check that finds nothing proves that nothing was made.",
		where: "backoff.Misses.Prove",
		old:   `return m.Count+1 >= m.needed()`, new: `return m.Count+2 >= m.needed()`,
		below: "modules/payments", tests: []string{"TestACallAgainOnlyAfterProof"},
	},
	{
		name: "brake", breaks: "A gateway at which too much is missing is believed.", where: "health.Health.Saw",
		old: `many := state.Missed > brakeMisses &&`, new: `many := state.Missed > 100*brakeMisses &&`,
		below: "modules/payments", tests: []string{"TestTheBrake"},
	},
	{
		name: "odd-answer-foreign-id", breaks: "An answer of another id than was asked for is taken.",
		where: "reply.Identity.Check",
		old:   `case want.ID != "" && t.ID != want.ID:`, new: `case want.ID != "" && t.ID == "":`,
		below: "modules/payments", tests: []string{"TestAnAnswerIsOfWhatWasAskedFor"},
	},
	{
		name: "signature-gwb", breaks: "The beginning of a webhook's signature suffices at gateway B.",
		where: "gwb.events.matches",
		old:   `return hmac.Equal(p, want)`, new: `return hmac.Equal(p[:1], want[:1])`,
		below: "modules/payments", tests: []string{"TestEveryDigitOfASignatureCounts"},
	},
	{
		name: "signature-age", breaks: "A webhook that was signed hours ago is taken at gateway B.", where: "gwb",
		old: `tolerance = 5 * time.Minute`, new: `tolerance = 5 * time.Hour`,
		below: "modules/payments", tests: []string{"TestSignatureForms"},
	},
	{
		name: "token-gwa", breaks: "An empty token passes for a webhook's token of gateway A.",
		where: "gwa.events.Authenticates",
		old:   `if token != "" && secret.Equal(given[:], want[:]) {`, new: `if secret.Equal(given[:], want[:]) {`,
		below: "modules/payments", tests: []string{"TestToken"},
	},
	// Subscriptions.
	{
		name: "subscription-compare-and-set", breaks: "A subscription is changed whatever its state is by now.",
		where: "lifecycle.Store.saveTx",
		old:   `%s WHERE id = $1 AND status = $2"`, new: `%s WHERE id = $1 AND status IN ($2, status)"`,
		below: "modules/subscriptions", tests: []string{"TestStateChangesCompareAndSet"},
	},
	{
		name: "subscription-reason", breaks: "The history tells an end by a dispute as one by failed payments.",
		where: "state.transitions, a table",
		old:   `{by: DisputeLost, reason: ReasonChargeback,`, new: `{by: DisputeLost, reason: ReasonPaymentFailure,`,
		below: "modules/subscriptions", tests: []string{"TestReasonsAreThoseOfTheGoldenFile"},
	},
	{
		name:   "access-after-the-end",
		breaks: "An active subscription gives access after its date until a job has ended it.",
		where:  "subscriptions.has_access, a function in SQL",
		old:    `AND (s.expires_at IS NULL OR s.expires_at > $2) OFFSET 0)`,
		new:    `AND (s.expires_at IS NULL OR $2 IS NOT NULL) OFFSET 0)`,
		below:  "modules/subscriptions", tests: []string{"TestGatewayAPix"},
	},
	{
		name: "pix-retry-days", breaks: "A refused debit of automatic PIX is ordered again a day late.",
		where: "debits.Debits.PlanRetriesTx",
		old:   `(d.DueDate, after)`, new: `(d.DueDate, after+1)`,
		below: "modules/subscriptions", tests: []string{"TestRefusedDebitIsTakenOnOneOfThreeDays"},
	},
	{
		name: "withdrawal-days", breaks: "The right to withdraw from a subscription ends a day early.",
		where: "withdrawal.Withdrawals.withdrawalEnd",
		old:   `AddDate(0, 0, s.deps.Config.WithdrawalDays+1)`, new: `AddDate(0, 0, s.deps.Config.WithdrawalDays)`,
		below: "modules/subscriptions", tests: []string{"TestTheRightToWithdrawEnds"},
	},
	{
		name: "anchor-day", breaks: "A subscription of the 31st stays on the 28th after February.",
		where: "lifecycle.AddMonthsOn",
		old:   `day = max(day, anchor)`, new: `day = min(day, anchor)`,
		below: "modules/subscriptions", tests: []string{"TestAddMonthsOn"},
	},
	// Tickets.
	{
		name: "limit-of-one-person", breaks: "What one person holds unpaid is not counted with the new places.",
		where: "checkout.Checkout.withinLimits",
		old:   `person.unpaid+w.quantity > most`, new: `w.quantity > most`,
		below: "modules/tickets", tests: []string{"TestOnePersonsOrdersAreCountedAcrossProcesses"},
	},
	{
		name: "last-seat", breaks: "The last place of an event is never sold.", where: "checkout.Checkout.seat",
		old: `+w.quantity > int(*e.Capacity)`, new: `+w.quantity >= int(*e.Capacity)`,
		below: "modules/tickets", tests: []string{"TestThreeHundredSeatsAreSoldOnce"},
	},
	{
		name: "qr-signature", breaks: "A ticket's code is good without its signature.", where: "door.Keys.verify",
		old:   `if ed25519.Verify(publicOf(k.private),`,
		new:   `if len(signature) > 0 || ed25519.Verify(publicOf(k.private),`,
		below: "modules/tickets", tests: []string{"TestEveryChangedCharacterForgesACode"},
	},
	{
		name: "ticket-used-twice", breaks: "A ticket opens several doors.", where: "ticketsdb.TicketConsume",
		old:   `WHERE t.id = $5 AND t.status = m.from_status AND e.id = t.event_id AND e.ends_at > $1`,
		new:   `WHERE t.id = $5 AND e.id = t.event_id AND e.ends_at > $1`,
		below: "modules/tickets", tests: []string{"TestTwentyDoorsOneTicket", "TestConsumeByHand"},
	},
	{
		name: "ticket-of-another", breaks: "A customer sees the tickets of others.", where: "events.Store.CallerTicket",
		old: `if t.CustomerID != customerID {`, new: `if t.CustomerID == "" {`,
		below: "modules/tickets",
		tests: []string{"TestOwnTicketsTakeEveryParameter", "TestConsumeByHand", "TestTicketsByAdmin", "TestBuyByCard"},
	},
	// Promo codes.
	{
		name: "promo-used-twice", breaks: "A code lowers the first month of a second subscription.",
		where: "promos.Service.firstMonth",
		old:   `if err == nil && r.PaidAt != nil {`, new: `if err == nil && r.PaidAt == nil && r.RedeemedAt != nil {`,
		below: "modules/promos", tests: []string{"TestSubscriptionHoldsAndUsesACode", "TestRedeemedCodeLowersOneMonth"},
	},
	{
		name: "promo-guessing", breaks: "Promo codes may be tried without a limit of the caller.",
		where: "sessions.Sessions.LimitCaller",
		old:   `{l.Kind + " by account", caller, l.PerCaller}`, new: `{l.Kind + " by account", "", l.PerCaller}`,
		below: "modules/promos", tests: []string{"TestGuessingIsThrottled"},
	},
	// Accounts.
	{
		name: "throttle-grows", breaks: "Whoever guesses passwords waits no longer each time.",
		where: "sessions.Sessions.waitAfter",
		old:   `wait *= 2`, new: `wait *= 1`,
		below: "modules/accounts", tests: []string{"TestWrongPasswordsMakeWaitLongerAndLonger"},
	},
	{
		name: "code-attempts", breaks: "A mailed code may be guessed without an end.", where: "accountsdb.CodeAttempt",
		old: `AND attempts < $3::int AND expires_at > $4`, new: `AND attempts < 1000 + $3::int AND expires_at > $4`,
		below: "modules/accounts", tests: []string{"TestVerifyEmailCountsAttempts"},
	},
	{
		name: "ended-tokens", breaks: "Tokens live on when their user's are ended.",
		where: "accounts.caller, a function in SQL",
		old: `(u.tokens_valid_after IS NULL OR $2 >= u.tokens_valid_after
			OR (u.kept_token_id = $3 AND u.kept_token_since = u.tokens_valid_after)) AND NOT EXISTS
			(SELECT 1 FROM accounts.sessions s WHERE s.id = $4 AND s.ended_at IS NOT NULL OFFSET 0)`,
		new: `(u.tokens_valid_after IS NULL OR $2 >= '2000-01-01'::timestamptz
			OR (u.kept_token_id = $3 AND u.kept_token_since = u.tokens_valid_after)) AND NOT EXISTS
			(SELECT 1 FROM accounts.sessions s WHERE s.id = $4 AND s.ended_at IS NOT NULL OFFSET 0)`,
		below: "modules/accounts", tests: []string{"TestTokensAreEndedLive"},
	},
	{
		name: "passkey-challenge", breaks: "A challenge may be signed by others than it was given to.",
		where: "accountsdb.PasskeyChallengeUse",
		old:   `AND user_id IS NOT DISTINCT FROM $2::text AND`, new: `AND $2::text IS NOT DISTINCT FROM $2::text AND`,
		below: "modules/accounts", tests: []string{"TestRegisteringAPasskey", "TestPasskeysThatAreNotAccepted"},
	},
	{
		name: "passkey-of-another", breaks: "Whoever knows the id of a passkey removes it.",
		where: "accountsdb.PasskeyDelete",
		old:   `WHERE id = $1 AND user_id = $2`, new: `WHERE id = $1 AND user_id >= left($2, 0)`,
		below: "modules/accounts", tests: []string{"TestPasskeysAreTheirOwners"},
	},
	{
		name: "passkey-copied", breaks: "A copy of an authenticator signs in.", where: "accountsdb.PasskeyUse",
		old: `(sign_count < $1 OR sign_count = 0 AND $1 = 0)`, new: `(sign_count < $1 OR sign_count >= 0)`,
		below: "modules/accounts", tests: []string{"TestACopyOfAnAuthenticatorIsRefused"},
	},
	{
		name: "passkey-without-a-lock", breaks: "Whoever holds the device signs in, also by touching it alone.",
		where: "passkeys.Passkeys.prove",
		old:   `RelyingPartyID: p.deps.Config.RPID, UserVerification: protocol.VerificationRequired, }, response)`,
		new:   `RelyingPartyID: p.deps.Config.RPID, UserVerification: protocol.VerificationPreferred, }, response)`,
		below: "modules/accounts", tests: []string{"TestPasskeysThatAreNotAccepted"},
	},
	{
		name: "passkey-stays", breaks: "The passkeys of an intruder outlive a reset of the password.",
		where: "codes.Codes.replacePasswordTx",
		old:   `s.deps.Factors.ForgetPasskeysTx(ctx, tx, u.ID); err != nil { return err } first := !u.EmailVerified`,
		new: `s.db.CodeDeleteOfUser(ctx, tx, u.ID); err != nil { return err }
		first := !u.EmailVerified`,
		below: "modules/accounts", tests: []string{"TestPasskeysOfAnIntruderGo"},
	},
	{
		name: "passkey-unlocked", breaks: "A passkey is registered while its user's are removed.",
		where: "sessions.Sessions.LockCallerTx",
		old:   `u, err := s.db.UserLockAny(ctx, tx, of.UserID)`, new: `u, err := s.db.UserGet(ctx, tx, of.UserID)`,
		below: "modules/accounts", tests: []string{"TestRegisteringWhileAnAccountIsGivenBack"},
	},
	{
		name: "last-root", breaks: "The last root user may be taken away.", where: "users.Users.keepRootTx",
		old: `if others == 0 { return fault.Conflict(`, new: `if others < 0 { return fault.Conflict(`,
		below: "modules/accounts", tests: []string{"TestTheLastTwoRootsCannotRemoveEachOther"},
	},
	// Catalogue, files, board.
	{
		name: "page-version", breaks: "A page of videos is shown from memory after the catalogue has changed.",
		where: "catalog.Service.respond",
		old:   `if cached.Version == version {`, new: `if cached.Version <= version {`,
		below: "modules/catalog", tests: []string{"TestPagesInMemoryAreNeverStale"},
	},
	{
		name: "watch-history-of-another", breaks: "A customer sees what others have watched.",
		where: "catalogdb.WatchHistoryList",
		old:   `SELECT video_id, timeline, updated_at FROM catalog.watch_history WHERE user_id = $1 AND`,
		new:   `SELECT video_id, timeline, updated_at FROM catalog.watch_history WHERE user_id >= left($1, 0) AND`,
		below: "modules/catalog", tests: []string{"TestWatchHistoryIsEachUsersOwn"},
	},
	{
		name: "private-file", breaks: "A private file opens for everybody who is signed in.", where: "files.File.May",
		old:   `case f.Visibility == Private && (c.IsAdmin() || f.ReaderID != "" && f.ReaderID == c.ID):`,
		new:   `case f.Visibility == Private && (c.IsAdmin() || f.ReaderID != "" && c.ID != ""):`,
		below: "modules/files", tests: []string{"TestAccess"},
	},
	{
		name: "route-permission", breaks: "Every admin may delete requisitions.", where: "board.Service.Routes",
		old:   `s.crud.Delete(s.cards), append(s.cards.DeleteDoc(), permitted)...)`,
		new:   `s.crud.Delete(s.cards), s.cards.DeleteDoc()...)`,
		below: "modules/board", tests: []string{"TestPermissions", "TestEveryHandlerOfTheTableGuardsItsRoute"},
	},
	{
		name: "board-order", breaks: "The columns of the board stand in the reverse order.",
		where: "board.Service.newColumns",
		old:   `DefaultSort: ` + "`" + `{"index":1}` + "`", new: `DefaultSort: ` + "`" + `{"index":-1}` + "`",
		below: "modules/board", tests: []string{"TestColumnsStandInTheirOrder"},
	},
	// Finance.
	{
		name: "rollup-refunds", breaks: "Refunds raise the figures of a day.", where: "finance.note_refund, a trigger",
		old:   `INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (NEW.refunded_at, NEW.amount_cents);`,
		new:   `INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (NEW.refunded_at, -NEW.amount_cents);`,
		below: "modules/finance", tests: []string{"TestGolden"},
	},
	{
		name: "invariant-blind", breaks: "The doctor does not see that tickets and places of an event differ.",
		where: "tickets_issued_counted, an invariant",
		old:   `WHERE e.tickets_issued <> coalesce(t.places, 0)`, new: `WHERE e.tickets_issued < 0`,
		below: "sql/invariants", tests: []string{"TestEachInvariantFindsWhatBreaksIt"},
	},
	{
		name: "export-of-another", breaks: "An admin fetches the exports of others.", where: "exports.Exports.find",
		old:   `err == nil && !mayRead(e, caller)`,
		new:   `err == nil && e.RequestedBy == ""`,
		below: "modules/finance", tests: []string{"TestDownloadsAreForWhoAsked"},
	},
	{
		name: "export-formula", breaks: "A text in an exported file is computed as a formula.", where: "export.neutral",
		old: `return "'" + s }`, new: `return s }`,
		below: "platform/export", tests: []string{"TestNeutral"},
	},
	// The platform.
	{
		name: "auth-customer", breaks: "Admins may call the routes of customers.", where: "httpapi.Allowed",
		old: `case Customer: if c.Type != TypeCustomer {`, new: `case Customer: if c.Type == "" {`,
		below: "platform/httpapi", tests: []string{"TestEveryAuthKindAgainstEveryCaller"},
	},
	{
		name: "json-duplicates", breaks: "A body may hold a member twice.", where: "httpapi.scanJSON",
		old: `if clients && in.seen(t) {`, new: `if !clients && in.seen(t) {`,
		below: "platform/httpapi", tests: []string{"TestAMemberHasOneSpelling"},
	},
	{
		name: "address-behind-proxies", breaks: "Any client names the address by which it is throttled.",
		where: "httpapi.API.clientAddr",
		old:   `i >= 0 && a.trusted(addr); i--`, new: `i >= 0; i--`,
		below: "platform/httpapi", tests: []string{"TestClientAddressBehindProxies"},
	},
	{
		name: "idempotency-body", breaks: "A key that is sent with another body gets the first answer.",
		where: "idempotency.Store.Begin",
		old:   `case !secret.Equal(known, bodyMAC):`, new: `case !secret.Equal(known, known):`,
		below: "platform/idempotency", tests: []string{"TestARepetitionGetsTheFirstAnswer"},
	},
	{
		name: "query-escape", breaks: "A client's text ends the literal in which it stands in a filter.",
		where: "query.quote",
		old:   `r >= ' ' && r <= '~' && r != '"' && r != '\\':`, new: `r >= ' ' && r <= '~' && r != '\\':`,
		below: "platform/query",
		tests: []string{"TestFilter_hostileOperands", "TestCompile_noClientBytes", "TestVectors"},
	},
	{
		name: "date-offset", breaks: "The offset of a date counts in the wrong direction.", where: "query.parseDate",
		old: `if m[9] == "+" { offset = -offset }`, new: `if m[9] == "-" { offset = -offset }`,
		below: "platform/query", tests: []string{"TestParseDate"},
	},
	{
		name: "config-secrets", breaks: "A short secret of a webhook is accepted.", where: "app.strong",
		old: `for _, s := range secrets { if len(s) < minSecret {`, new: `for _, s := range secrets { if len(s) < 1 {`,
		below: "cmd/internal/app", tests: []string{"TestTheConfigurationNamesWhatIsWrong"},
	},
	{
		name: "trace-of-anybody", breaks: "Any caller decides in which trace its request is, and whether it is recorded.",
		where: "tracing.Tracer.StartRequest",
		old:   `if trusted { ctx = trace.ContextWithRemoteSpanContext(`,
		new:   `if trusted || !trusted { ctx = trace.ContextWithRemoteSpanContext(`,
		below: "platform/tracing", tests: []string{"TestATraceparentOfAnybody"},
	},
	{
		name: "trace-id-of-a-record", breaks: "Ids of gateways stand in spans.", where: "tracing.templateOf",
		old: `!word.MatchString(part)) {`, new: `word.MatchString(part)) {`,
		below: "platform/tracing", tests: []string{"TestPathsOfGatewaysHoldNoIDs"},
	},
	{
		name: "trace-key-follows", breaks: "A redirect carries the collector's key to another address.",
		where: "tracing.newCollector",
		old: `// A redirect would carry the headers, and so a key, to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },`, new: ``,
		below: "platform/tracing", tests: []string{"TestADeliveryIsTriedAgainWhereThatMayHelp"},
	},
}
