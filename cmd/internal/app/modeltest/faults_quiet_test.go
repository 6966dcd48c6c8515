package modeltest_test

// quietRoutes ask no gateway. A route that does belongs into the scenarios.
var quietRoutes = []string{
	"admin_gwa_subscription_list", "admin_gwa_subscription_refunds", "admin_gwa_subscription_stats",
	"admin_gwb_subscription_list", "admin_gwb_subscription_refunds", "admin_gwb_subscription_stats",
	"audit_log_list", "avatar_delete", "avatar_post", "box_office_sale_create", "box_office_sale_get",
	"box_office_sale_list", "box_office_sale_refund", "change_password_post", "current_user_get",
	"customer_admin_verify_email", "customer_change_email", "customer_check_availability",
	"customer_confirm_email", "customer_data_get", "customer_delete", "customer_list", "customer_me_delete",
	"customer_me_get", "customer_me_put", "customer_signup", "customer_toggle_active", "customer_update",
	"customer_verify_email", "docs_get", "event_checkin_bundle", "event_create", "event_delete", "event_list",
	"event_update", "forgot_password_post", "gwa_subscription_get", "gwb_config", "health_get",
	"me_promo_code_list", "me_passkey_create", "me_passkey_delete", "me_passkey_list",
	"me_passkey_options", "me_recovery_codes_renew", "me_session_end", "me_session_end_others", "me_session_list",
	"me_totp_begin", "me_totp_confirm", "me_totp_delete", "me_totp_get", "me_ticket_list", "me_ticket_order_get", "me_ticket_order_list", "me_ticket_qr",
	"my_subscribe", "my_subscription_get", "my_user_get", "my_user_put", "openapi_get", "passkey_options_post",
	"passkey_verify_post", "plan_activate",
	"plan_create", "plan_delete", "plan_inactivate", "plan_list", "plan_list_all", "plan_update",
	"promo_code_create", "promo_code_delete", "promo_code_get", "promo_code_image_delete", "promo_code_image_post",
	"promo_code_list", "promo_code_redeem", "promo_code_stats", "promo_code_update", "promo_code_validate",
	"refresh_archive_token_post", "refresh_token_post", "dispute_list", "payment_list", "reconciliation_finding_list",
	"reconciliation_list", "refund_list", "resend_verification_post", "reset_password_post",
	"route_list", "store_event_get", "store_event_list", "subscription_chargeback",
	"subscription_chargeback_withdraw", "subscription_extend", "subscription_list", "subscription_refunds",
	"subscription_stats", "ticket_consume", "ticket_consume_qr", "ticket_consume_qr_batch", "ticket_create",
	"ticket_delete", "ticket_list", "ticket_readmit", "ticket_update", "user_create", "user_delete", "user_list",
	"user_session_end", "user_session_end_all", "user_session_list", "user_update",
	"users_type_create", "users_type_delete", "users_type_list", "users_type_update", "webhook_gwa", "webhook_gwb",
	"webhook_log_list", "webhook_log_replay", "webhook_log_stats", "admin_event_cancel",
	"admin_event_cancellation", "store_ticket_order_withdraw_get",
	"store_ticket_order_withdraw_post", // does what me_ticket_order_withdraw does
	"undo_email_change_get", "undo_email_change_post", "unapplied_payment_list", "unapplied_payment_extend",
	"unapplied_payment_keep",
	"customer_access", "customer_note_create", "customer_note_delete", "customer_note_list", "customer_note_update",
	"customer_view_as", "view_create", "view_delete", "view_list", "view_update",
}

// quietJobs ask no gateway, or do what jobs of another kind do.
var quietJobs = []string{
	"accounts_resend_verification", "accounts_send_code", "accounts_send_email_notice", "accounts_send_reset",
	"accounts_sweep_codes", "files_sweep_archive_tokens",
	"files_sweep_orphans", "payments_events_replay", "payments_forget_person", "payments_webhook_log_months",
	"subscriptions_dunning_mail",
	"subscriptions_expire", "tickets_mail", "payments_unapplied_mail",
	"payments_unapplied",        // does for one payment what payments_unapplied_sweep does
	"subscriptions_recover",     // of the release before: a check, as payments_intents_look makes it
	"accounts_sweep_deletions",  // queues accounts_erase_customer
	"subscriptions_trial_uses",  // forgets and notes trials by tax id
	"accounts_fill_skeletons",   // notes what is missing of rows that stand, again and again
	"subscriptions_sweep",       // does what the jobs of single subscriptions do
	"payments_refunds_adopt",    // opens intents
	"payments_event_told",       // reads that are repeated until they are answered: forged_event_test.go of subscriptions
	"tickets_live_money",        // one read that is repeated until it is answered: payment_checked_with_gateway_test.go of tickets
	"tickets_refund_shares",     // asks as the admin refund of an order does: ticket_refund_test.go of tickets
	"tickets_event_mail",        // writes as tickets_mail does
	"subscriptions_stray_money", // one read that is repeated until it is answered: stray_money_test.go of subscriptions
}
