package accounts

import (
	"net/http"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/customers"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/signup"
	"marquee/modules/accounts/users"
	"marquee/platform/httpapi"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	s.users.KnowRoutes(api.Routes)
	who, proof, join, me, avatar := s.sessions.Handlers(), s.changes.Handlers(), s.signup.Handlers(),
		s.customers.Handlers(), s.identity.Handlers()
	throttled := httpapi.PerMinute(s.perMinute)
	httpapi.Route(api, http.MethodPost, "/token", "token_post", httpapi.Public, who.Token,
		httpapi.Form("username", "password"),
		httpapi.OptionalField("totp", "A code of the authenticator, or a recovery code, of users with a second factor"),
		throttled, httpapi.Urgent())
	httpapi.Route(api, http.MethodGet, "/current-user", "current_user_get", httpapi.SignedIn, who.CurrentUser)
	httpapi.Route(api, http.MethodPost, "/auth/refresh-token", "refresh_token_post", httpapi.Public, who.RefreshToken,
		httpapi.Urgent())
	httpapi.Route(api, http.MethodPost, "/auth/refresh-archive-token", "refresh_archive_token_post", httpapi.SignedIn,
		who.RefreshArchiveToken)
	httpapi.Route(api, http.MethodPost, "/auth/change-password", "change_password_post", httpapi.SignedIn,
		who.ChangePassword)
	httpapi.Route(api, http.MethodPost, "/auth/forgot-password", "forgot_password_post", httpapi.Public,
		proof.ForgotPassword, throttled)
	httpapi.Route(api, http.MethodPost, "/auth/reset-password", "reset_password_post", httpapi.Public,
		proof.ResetPassword, throttled)
	httpapi.Route(api, http.MethodPost, "/auth/resend-verification", "resend_verification_post", httpapi.Public,
		proof.ResendVerification, throttled)
	httpapi.Route(api, http.MethodGet, "/customers/check-availability", "customer_check_availability", httpapi.Public,
		join.CheckAvailability, throttled)
	httpapi.Route(api, http.MethodPost, "/customers/signup", "customer_signup", httpapi.Public, join.SignUp, throttled,
		signup.Responses(api), httpapi.Info[signup.Confirmed]())
	httpapi.Route(api, http.MethodPost, "/customers/me/verify-email", "customer_verify_email", httpapi.Customer,
		proof.VerifyEmail)
	httpapi.Route(api, http.MethodGet, "/customers/me", "customer_me_get", httpapi.Customer, me.GetMe)
	httpapi.Route(api, http.MethodPut, "/customers/me", "customer_me_put", httpapi.Customer, me.PutMe)
	httpapi.Route(api, http.MethodDelete, "/customers/me", "customer_me_delete", httpapi.Customer, me.DeleteMe)
	httpapi.Route(api, http.MethodPost, "/customers/me/change-email", "customer_change_email", httpapi.Customer,
		proof.ChangeEmail)
	httpapi.Route(api, http.MethodPost, "/customers/me/confirm-email", "customer_confirm_email", httpapi.Customer,
		proof.ConfirmEmail, httpapi.Info[codes.MessageBody]())
	httpapi.Route(api, http.MethodGet, "/customers/me/data", "customer_data_get", httpapi.Customer, me.Data,
		httpapi.ResponseSchema(customers.DataSchema()))
	httpapi.Route(api, http.MethodPost, codes.UndoPath, "undo_email_change_post", httpapi.Public, proof.UndoEmailChange,
		throttled)
	api.Mount(http.MethodGet, httpapi.Prefix+codes.UndoPath, "undo_email_change_get", httpapi.Public, proof.UndoPage)
	api.Mount(http.MethodPost, httpapi.Prefix+identity.AvatarPath, "avatar_post", httpapi.SignedIn, avatar.Post(api))
	avatar.DocumentPost(api)
	httpapi.Route(api, http.MethodDelete, identity.AvatarPath, "avatar_delete", httpapi.SignedIn, avatar.Delete)
	s.signInRoutes(api)
	s.customerRoutes(api)
	s.adminRoutes(api)
}

// signInRoutes registers what users do with their sessions and with what they sign in by, and root with the sessions of
// others.
func (s *Service) signInRoutes(api *httpapi.API) {
	seen, factor := s.signIns.Handlers(), s.factors.Handlers()
	httpapi.Route(api, http.MethodGet, "/me/sessions", "me_session_list", httpapi.SignedIn, seen.MySessions)
	httpapi.Route(api, http.MethodDelete, "/me/sessions", "me_session_end_others", httpapi.SignedIn,
		seen.EndMyOtherSessions)
	httpapi.Route(api, http.MethodDelete, "/me/sessions/{session_id}", "me_session_end", httpapi.SignedIn,
		seen.EndMySession)
	httpapi.Route(api, http.MethodGet, "/me/totp", "me_totp_get", httpapi.SignedIn, factor.Totp)
	httpapi.Route(api, http.MethodPost, "/me/totp", "me_totp_begin", httpapi.SignedIn, factor.BeginTotp)
	httpapi.Route(api, http.MethodDelete, "/me/totp", "me_totp_delete", httpapi.SignedIn, factor.RemoveTotp)
	httpapi.Route(api, http.MethodPost, "/me/totp/confirm", "me_totp_confirm", httpapi.SignedIn, factor.ConfirmTotp)
	httpapi.Route(api, http.MethodPost, "/me/totp/recovery-codes", "me_recovery_codes_renew", httpapi.SignedIn,
		factor.RenewRecoveryCodes)
	keys, throttled := s.passkeys.Handlers(), httpapi.PerMinute(s.perMinute)
	httpapi.Route(api, http.MethodPost, "/auth/passkeys/options", "passkey_options_post", httpapi.Public,
		keys.LoginOptions, throttled, httpapi.Urgent())
	httpapi.Route(api, http.MethodPost, "/auth/passkeys/verify", "passkey_verify_post", httpapi.Public, keys.Verify,
		throttled, httpapi.Urgent())
	httpapi.Route(api, http.MethodGet, "/me/passkeys", "me_passkey_list", httpapi.SignedIn, keys.List)
	httpapi.Route(api, http.MethodPost, "/me/passkeys", "me_passkey_create", httpapi.SignedIn, keys.Register)
	httpapi.Route(api, http.MethodPost, "/me/passkeys/options", "me_passkey_options", httpapi.SignedIn,
		keys.RegistrationOptions)
	httpapi.Route(api, http.MethodDelete, "/me/passkeys/{passkey_id}", "me_passkey_delete", httpapi.SignedIn,
		keys.Remove)
	httpapi.Route(api, http.MethodGet, "/admin/users/{user_id}/sessions", "user_session_list", httpapi.Root,
		seen.UserSessions)
	httpapi.Route(api, http.MethodDelete, "/admin/users/{user_id}/sessions", "user_session_end_all", httpapi.Root,
		seen.EndUserSessions)
	httpapi.Route(api, http.MethodDelete, "/admin/users/{user_id}/sessions/{session_id}", "user_session_end",
		httpapi.Root, seen.EndUserSession)
}

// adminRoutes registers what admins do with users, profiles and the audit trail.
func (s *Service) adminRoutes(api *httpapi.API) {
	crud, audit := s.crud, s.trail.Entries()
	admins, profiles, myUser, handlers := s.users.Resource(), s.users.Profiles(), s.users.MyUser(), s.users.Handlers()
	httpapi.Route(api, http.MethodGet, "/users", "user_list", httpapi.Admin, crud.List(admins.View),
		admins.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/users", "user_create", httpapi.Admin, crud.Create(admins),
		admins.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, "/users", "user_update", httpapi.Admin, crud.Update(admins),
		admins.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/users", "user_delete", httpapi.Admin, crud.Delete(admins),
		admins.DeleteDoc()...)
	httpapi.Route(api, http.MethodGet, "/users-type", "users_type_list", httpapi.Root,
		crud.OnPrimary().List(profiles.View), profiles.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/users-type", "users_type_create", httpapi.Root, crud.Create(profiles),
		profiles.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, "/users-type", "users_type_update", httpapi.Root, crud.Update(profiles),
		profiles.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/users-type", "users_type_delete", httpapi.Root, crud.Delete(profiles),
		profiles.DeleteDoc()...)
	httpapi.Route(api, http.MethodGet, "/my-user", "my_user_get", httpapi.Admin, handlers.GetMyUser,
		httpapi.ResponseSchema(myUser.EnvelopeSchema()))
	httpapi.Route(api, http.MethodPut, "/my-user", "my_user_put", httpapi.Admin, handlers.PutMyUser,
		myUser.UpdateDocWith(users.ProvingFields())...)
	view := s.views.Handlers(api)
	httpapi.Route(api, http.MethodGet, "/admin/views", "view_list", httpapi.Admin, view.List,
		httpapi.Summary("Lists as staff want to see them again"))
	httpapi.Route(api, http.MethodPost, "/admin/views", "view_create", httpapi.Admin, view.Create,
		httpapi.Summary("Store how a list is to be seen again"))
	httpapi.Route(api, http.MethodPut, "/admin/views/{id}", "view_update", httpapi.Admin, view.Update,
		httpapi.Summary("Change a view"))
	httpapi.Route(api, http.MethodDelete, "/admin/views/{id}", "view_delete", httpapi.Admin, view.Delete,
		httpapi.Summary("Delete a view"))
	httpapi.Route(api, http.MethodGet, "/audit-log", "audit_log_list", httpapi.Admin, crud.List(audit.View),
		audit.ListDoc()...)
}

// customerRoutes registers what admins do with customers, and write down about them.
func (s *Service) customerRoutes(api *httpapi.API) {
	crud, theirs, admin, who := s.crud, s.customers.Resource(), s.customers.Handlers(), s.sessions.Handlers()
	httpapi.Route(api, http.MethodGet, "/customers", "customer_list", httpapi.Admin, crud.List(theirs.View),
		theirs.ListDoc()...)
	httpapi.Route(api, http.MethodPut, "/customers", "customer_update", httpapi.Admin, crud.Update(theirs),
		theirs.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/customers", "customer_delete", httpapi.Admin, crud.Delete(theirs),
		theirs.DeleteDoc()...)
	httpapi.Route(api, http.MethodPost, "/admin/customers/{id}/verify-email", "customer_admin_verify_email",
		httpapi.Admin, admin.VerifyEmail)
	httpapi.Route(api, http.MethodPost, "/admin/customers/{id}/toggle-active", "customer_toggle_active", httpapi.Admin,
		admin.ToggleActive)
	customerNotes := s.customers.CustomerNotes()
	httpapi.Route(api, http.MethodGet, "/customer-notes", "customer_note_list", httpapi.Admin,
		crud.OnPrimary().List(customerNotes.View), customerNotes.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/customer-notes", "customer_note_create", httpapi.Admin,
		crud.Create(customerNotes), customerNotes.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, "/customer-notes", "customer_note_update", httpapi.Admin,
		crud.Update(customerNotes), customerNotes.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/customer-notes", "customer_note_delete", httpapi.Admin,
		crud.Delete(customerNotes), customerNotes.DeleteDoc()...)
	httpapi.Route(api, http.MethodPost, "/admin/customers/{id}/view-as", "customer_view_as", httpapi.Admin,
		who.ViewAs, httpapi.Summary("A token by which staff see what a customer sees"))
}
