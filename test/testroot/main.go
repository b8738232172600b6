// The roots that snapd trusts when it is built with its build tag "withtestkeys", and an account-key of theirs for a key of
// ours: with it a test is the authority of such a device. Their private keys are published with snapd's sources.
// It is a tool for tests: it links snapd's code, which is under the GPL, and is no part of the product.
//
//	testroot KEY-ID PUBLIC-KEY    the body of its account-key
package main

import (
	"fmt"
	"os"

	"github.com/snapcore/snapd/asserts"
	"github.com/snapcore/snapd/asserts/assertstest"
	"github.com/snapcore/snapd/asserts/systestkeys"
)

func main() {
	private, _ := assertstest.ReadPrivKey(systestkeys.TestRootPrivKey)
	root := systestkeys.TestRootAccount.HeaderString("account-id")
	key, err := assertstest.NewSigningDB(root, private).Sign(asserts.AccountKeyType, map[string]interface{}{
		"authority-id":        root,
		"account-id":          root,
		"public-key-sha3-384": os.Args[1],
		"name":                "larder",
		"since":               "2016-04-01T00:00:00Z",
	}, []byte(os.Args[2]), "")
	fail(err)
	encoder := asserts.NewEncoder(os.Stdout)
	for _, one := range append(append([]asserts.Assertion{}, systestkeys.Trusted...), key) {
		fail(encoder.Encode(one))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
