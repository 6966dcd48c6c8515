package app

// addRoutes registers every module's operations.
func (a *App) addRoutes() {
	a.modules.settings.Routes(a.api)
	a.modules.files.Routes(a.api)
	a.modules.accounts.Routes(a.api)
	a.modules.payments.Routes(a.api)
	a.modules.subscriptions.Routes(a.api)
	a.modules.catalog.Routes(a.api)
}
