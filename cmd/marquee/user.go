package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"marquee/cmd/internal/app"
	"marquee/modules/accounts"
	"marquee/platform/httpapi"
	"marquee/platform/secret"
)

type userCommand struct {
	Create userCreateCommand `cmd:"" help:"Create a user, such as the first root."`
}

type userCreateCommand struct {
	Root          bool   `help:"A root user, who passes every check." xor:"type"`
	Customer      bool   `help:"A customer instead of an admin." xor:"type"`
	Migrated      bool   `help:"A customer imported from another system, who has to choose a new password; without --password-stdin the password is a placeholder." xor:"type"`
	Username      string `required:"" help:"3 to 50 characters."`
	Email         string `required:"" help:"E-mail address."`
	Name          string `help:"Display name; default: the username."`
	Phone         string `help:"International number with country code."`
	TaxID         string `name:"tax-id" help:"CPF or CNPJ without punctuation."`
	PasswordStdin bool   `help:"Read the password, at least 8 characters, from the first line of standard input. Required, except with --migrated."`
}

// Run creates the user and prints the id.
func (c *userCreateCommand) Run(ctx context.Context) error {
	cfg, err := databaseOnly()
	if err != nil {
		return err
	}
	password, err := c.password()
	if err != nil {
		return err
	}
	user, err := app.CreateUser(ctx, cfg, c.newUser(password))
	if err != nil {
		return err
	}
	fmt.Println(user.ID)
	return nil
}

func (c *userCreateCommand) password() (secret.Text, error) {
	if !c.PasswordStdin {
		if c.Migrated {
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

func (c *userCreateCommand) newUser(password secret.Text) accounts.NewUser {
	name := c.Name
	if name == "" {
		name = c.Username
	}
	u := accounts.NewUser{
		Type: httpapi.TypeAdmin, Root: c.Root, Username: c.Username, Email: c.Email, Password: password, Phone: c.Phone,
		TaxID: c.TaxID,
	}
	if c.Customer || c.Migrated {
		u.Type, u.FullName, u.EmailVerified, u.Migrated = httpapi.TypeCustomer, name, true, c.Migrated
	} else {
		u.Name = name
	}
	return u
}
