package users

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/sessions"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/query"
	"marquee/platform/resource"
	"marquee/platform/secret"
)

// newMyUser is what an admin may change about themselves at PUT /my-user:
// username, e-mail, name and avatar. It shows what /users shows.
func (s *Users) newMyUser() *resource.Resource {
	privileged := func(name string, kind query.Kind, more resource.Field) resource.Field {
		more.Name, more.Kind, more.Write = name, kind, resource.Privileged
		return more
	}
	whenSet := resource.Field{WhenSet: true}
	return resource.New(resource.Definition{
		Name: "my-user", Singular: "User", Schema: "MyUser", AuditedAs: identity.UsersName, Table: "accounts.users",
		Base:          "t.user_type = 'admin' AND t.deleted_at IS NULL",
		CreatedColumn: "created_at", UpdatedColumn: "updated_at",
		Fields: []resource.Field{
			privileged("user_type", query.String, resource.Field{Rule: resource.Rule{Enum: []string{"admin"}}}),
			{Name: "username", Kind: query.String, Rule: identity.UsernameRule},
			{Name: "email", Kind: query.String, Rule: identity.EmailRule},
			{Name: "name", Kind: query.String, WhenSet: true, Rule: identity.NameRule, Doc: "Display name"},
			privileged("full_name", query.String, whenSet),
			privileged("tax_id", query.String, whenSet),
			privileged("phone", query.String, whenSet),
			{Name: "avatar_id", Kind: query.OID, Nullable: true, Doc: "File id of the avatar"},
			privileged("type_user", query.OID, resource.Field{Array: true}),
			privileged("enable", query.Bool, resource.Field{}),
			privileged("is_root", query.Bool, resource.Field{}),
			{Name: "created_at", Expr: "t.created_at", Kind: query.Date},
			{Name: "updated_at", Expr: "t.updated_at", Kind: query.Date},
		},
		Constraints: map[string]resource.Violation{identity.UniqueLogin: identity.LoginTaken},
		Hooks:       s.adminHooks(),
	})
}

// GetMyUser answers GET /my-user.
func (h Handlers) GetMyUser(ctx context.Context, _ *struct{}) (*resource.Response, error) {
	list, err := h.s.myUser.Prepare(resource.Params{ID: httpapi.CallerOf(ctx).ID})
	if err != nil {
		return nil, err
	}
	if err := list.Run(ctx, h.s.deps.Pool); err != nil {
		return nil, err
	}
	return list.Envelope(ctx), nil
}

// PutMyUser is the PUT of the collection on the caller's own record; _id may be
// left out.
func (h Handlers) PutMyUser(ctx context.Context, in *resource.BodyInput) (*resource.Response, error) {
	body, current, err := callerObject(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	if current != nil {
		if err := h.s.myUser.CheckChanges(body); err != nil {
			return nil, err
		}
		u, err := h.s.db.UserGet(ctx, h.s.deps.Pool, httpapi.CallerOf(ctx).ID)
		if err != nil {
			return nil, fmt.Errorf("read user: %w", err)
		}
		if err := h.s.deps.Changes.ProveForChange(ctx, u, current); err != nil {
			return nil, err
		}
		ctx = context.WithValue(ctx, provedPassword{}, true)
	}
	return h.s.deps.Routes.Update(h.s.myUser)(ctx, &resource.BodyInput{Body: body})
}

// currentPassword is the field of PUT /my-user that proves who changes the e-mail.
const currentPassword = "current_password"

// provedPassword marks the context of a request whose current_password is right.
type provedPassword struct{}

// ProvingFields are what the records of PUT /my-user take besides the fields of the user.
func ProvingFields() map[string]*huma.Schema {
	return map[string]*huma.Schema{currentPassword: {
		Type: huma.TypeString, MaxLength: new(sessions.MaxPasswordLength), WriteOnly: true,
		Description: "Proves who changes the e-mail: 400 when wrong, the empty one too; compulsory where EMAIL_CHANGE_NEEDS_PASSWORD says so",
	}}
}

// callerObject fills the caller's id into an array of one object, and takes the current
// password out of it, which is no field of the record. What is no such array goes on as
// it is, to be refused by the collection.
func callerObject(
	ctx context.Context, body resource.RawJSON,
) (object resource.RawJSON, current *secret.Text, err error) {
	var objects []map[string]json.RawMessage
	if json.Unmarshal(body, &objects) != nil || len(objects) == 0 || objects[0] == nil {
		return body, current, nil //nolint:nilerr // the collection says what is wrong
	}
	if len(objects) > 1 {
		return nil, current, fault.InvalidAt("has to hold exactly one object", "body")
	}
	if raw, sent := objects[0][currentPassword]; sent {
		var text string
		if string(raw) == "null" || json.Unmarshal(raw, &text) != nil || len(text) > sessions.MaxPasswordLength {
			return nil, current, fault.InvalidAt("has to be your current password", "body", 0, currentPassword)
		}
		sent := secret.NewText(text)
		current = &sent
		delete(objects[0], currentPassword)
	}
	id := httpapi.CallerOf(ctx).ID.String()
	if raw, sent := objects[0]["_id"]; sent {
		var said string
		if json.Unmarshal(raw, &said) != nil || !strings.EqualFold(said, id) {
			return nil, current, fault.InvalidAt("has to be your own id", "body", 0, "_id")
		}
	}
	objects[0]["_id"] = json.RawMessage(`"` + id + `"`)
	object, err = json.Marshal(objects[0:1])
	return object, current, err
}
