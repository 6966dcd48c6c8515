package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
	"marquee/modules/accounts"
	"marquee/platform/httpapi"
	"marquee/platform/secret"
)

type newUser struct {
	root, customer, migrated, passwordStdin bool
	username, email, name, phone, taxID     string
}

func userCommand() *cobra.Command {
	var u newUser
	create := leaf("create", "Create a user, such as the first root.", u.create)
	f := create.Flags()
	f.SortFlags = false
	f.BoolVar(&u.root, "root", false, "A root user, who passes every check.")
	f.BoolVar(&u.customer, "customer", false, "A customer instead of an admin.")
	f.BoolVar(&u.migrated, "migrated", false, "A customer imported from another system, who has to choose a new "+
		"password; without --password-stdin the password is a placeholder.")
	f.StringVar(&u.username, "username", "", "3 to 50 characters. Required.")
	f.StringVar(&u.email, "email", "", "E-mail address. Required.")
	f.StringVar(&u.name, "name", "", "Display name; default: the username.")
	f.StringVar(&u.phone, "phone", "", "International number with country code.")
	f.StringVar(&u.taxID, "tax-id", "", "CPF or CNPJ without punctuation.")
	f.BoolVar(&u.passwordStdin, "password-stdin", false, "Read the password, at least 8 characters, from the first "+
		"line of standard input. Required, except with --migrated.")
	create.MarkFlagsMutuallyExclusive("root", "customer", "migrated")
	needs(create, "username", "email")
	var login string
	reset := leaf("mfa-reset",
		"Take the second factor and the passkeys of a user who has lost them, and end their sessions.",
		func(ctx context.Context) error { return resetSecondFactor(ctx, login) })
	reset.Flags().StringVar(&login, "username", "", "Username or e-mail of the user. Required.")
	needs(reset, "username")
	return group("user", "Create users, and let back in who has lost a second factor.", create, reset)
}

// resetSecondFactor prints the id of the user.
func resetSecondFactor(ctx context.Context, login string) error {
	cfg, err := databaseOnly()
	if err != nil {
		return err
	}
	user, err := app.ResetSecondFactor(ctx, cfg, login)
	if err != nil {
		return err
	}
	fmt.Println(user.ID)
	return nil
}

// create creates the user and prints the id.
func (u *newUser) create(ctx context.Context) error {
	cfg, err := databaseOnly()
	if err != nil {
		return err
	}
	password, err := u.password()
	if err != nil {
		return err
	}
	user, err := app.CreateUser(ctx, cfg, u.account(password))
	if err != nil {
		return err
	}
	fmt.Println(user.ID)
	return nil
}

func (u *newUser) password() (secret.Text, error) {
	if !u.passwordStdin {
		if u.migrated {
			return secret.Text{}, nil
		}
		return secret.Text{}, errors.New("--password-stdin is missing: the password is read from standard input")
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && line == "" {
		return secret.Text{}, errors.New("no password on standard input")
	}
	return secret.NewText(strings.TrimRight(line, "\r\n")), nil
}

func (u *newUser) account(password secret.Text) accounts.NewUser {
	name := u.name
	if name == "" {
		name = u.username
	}
	a := accounts.NewUser{
		Type: httpapi.TypeAdmin, Root: u.root, Username: u.username, Email: u.email, Password: password, Phone: u.phone,
		TaxID: u.taxID,
	}
	if u.customer || u.migrated {
		a.Type, a.FullName, a.EmailVerified, a.Migrated = httpapi.TypeCustomer, name, true, u.migrated
	} else {
		a.Name = name
	}
	return a
}
