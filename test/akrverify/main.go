// akrverify reads assertions on stdin and judges them with the real snapd
// "asserts" package. Exit 0 = valid, 1 = invalid, 2 = usage.
//
// Without -trusted it reads ONE account-key-request. Flags:
//
//	-strict     also demand what snapd's library does not: sign-key-sha3-384 ==
//	            public-key-sha3-384, canonical re-encoding of the body, key
//	            >= 4096 bits, SHA-512 v4 signature over binary data by RSA,
//	            only the known headers.
//	-account ID demand this account-id
//	-name NAME  demand this key name
//	-json       print one JSON object (always printed on exit 0; with -json also on 1)
//	-stream     use the stream Decoder (what snapd's REST API / `snap ack` uses)
//	            instead of Decode
//
// With -trusted FILE it reads a whole stream and adds it to a database that
// trusts only the accounts and keys in FILE; the other flags have no meaning.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/crypto/openpgp/packet"

	"github.com/snapcore/snapd/asserts"
)

type result struct {
	OK          bool                   `json:"ok"`
	Stage       string                 `json:"stage,omitempty"`
	Error       string                 `json:"error,omitempty"`
	Headers     map[string]interface{} `json:"headers,omitempty"`
	KeyID       string                 `json:"key-id,omitempty"`
	KeyBits     int                    `json:"key-bits,omitempty"`
	PGPFpr      string                 `json:"openpgp-v4-fingerprint,omitempty"`
	SigCreated  string                 `json:"signature-created,omitempty"`
	SigHash     string                 `json:"signature-hash,omitempty"`
	SigHasIssue bool                   `json:"signature-has-issuer-subpacket"`
	BodyCanon   bool                   `json:"body-canonical"`
	SelfKey     bool                   `json:"sign-key-equals-public-key"`
}

func decodeV1(b []byte) (packet.Packet, error) {
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	n, err := base64.StdEncoding.Decode(raw, b)
	if err != nil || n < 2 {
		return nil, fmt.Errorf("bad base64: %v", err)
	}
	return packet.Read(bytes.NewReader(raw[1:n]))
}

func main() {
	strict := flag.Bool("strict", false, "")
	account := flag.String("account", "", "")
	name := flag.String("name", "", "")
	asJSON := flag.Bool("json", false, "")
	stream := flag.Bool("stream", false, "")
	trusted := flag.String("trusted", "", "")
	flag.Parse()
	if flag.NArg() != 0 {
		fmt.Fprintln(os.Stderr, "usage: akrverify [-strict] [-account ID] [-name NAME] [-json] [-stream] < request\n       akrverify -trusted ROOTS < stream")
		os.Exit(2)
	}
	var res result
	emit := func() {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		enc.Encode(res)
	}
	fail := func(stage string, err error) {
		res.OK, res.Stage, res.Error = false, stage, err.Error()
		if *asJSON {
			emit()
		}
		fmt.Fprintf(os.Stderr, "INVALID (%s): %v\n", stage, err)
		os.Exit(1)
	}

	in, err := io.ReadAll(io.LimitReader(os.Stdin, 4<<20))
	if err != nil {
		fail("read", err)
	}
	if *trusted != "" {
		reportStream(judgeStream(in, *trusted))
	}
	var a asserts.Assertion
	if *stream {
		dec := asserts.NewDecoder(bytes.NewReader(in))
		a, err = dec.Decode()
		if err == nil {
			if _, e2 := dec.Decode(); e2 != io.EOF {
				err = fmt.Errorf("trailing data after the first assertion: %v", e2)
			}
		}
	} else {
		a, err = asserts.Decode(in)
	}
	if err != nil {
		fail("decode", err)
	}
	akr, ok := a.(*asserts.AccountKeyRequest)
	if !ok {
		fail("type", fmt.Errorf("expected account-key-request, got %q", a.Type().Name))
	}
	res.Headers = akr.Headers()
	if !akr.SupportedFormat() {
		fail("format", fmt.Errorf("unsupported format iteration %d (max %d)", akr.Format(), akr.Type().MaxSupportedFormat()))
	}
	pub, err := asserts.DecodePublicKey(akr.Body())
	if err != nil {
		fail("public-key", err)
	}
	res.KeyID = pub.ID()
	if pub.ID() != akr.HeaderString("public-key-sha3-384") {
		fail("key-id", fmt.Errorf("body key id %s != header %s", pub.ID(), akr.HeaderString("public-key-sha3-384")))
	}
	// (1) what the database does for no-authority assertions
	// (a Database with only the CheckSignature checker: no account assertion needed)
	db, err := asserts.OpenDatabase(&asserts.DatabaseConfig{Checkers: []asserts.Checker{asserts.CheckSignature}})
	if err != nil {
		fail("internal", err)
	}
	if err := db.Check(akr); err != nil {
		fail("signature", err)
	}
	// (2) the public helper, with the key decoded from the body
	if err := asserts.SignatureCheck(akr, pub); err != nil {
		fail("signature2", err)
	}
	reenc, err := asserts.EncodePublicKey(pub)
	if err != nil {
		fail("public-key", err)
	}
	res.BodyCanon = bytes.Equal(reenc, akr.Body())
	res.SelfKey = akr.SignKeyID() == akr.PublicKeyID()
	if p, err := decodeV1(akr.Body()); err == nil {
		if pk, ok := p.(*packet.PublicKey); ok {
			bl, _ := pk.BitLength()
			res.KeyBits = int(bl)
			res.PGPFpr = fmt.Sprintf("%X", pk.Fingerprint)
		}
	}
	_, sigb := akr.Signature()
	var sig *packet.Signature
	if p, err := decodeV1(sigb); err == nil {
		if sig, ok = p.(*packet.Signature); ok {
			res.SigCreated = sig.CreationTime.UTC().Format(time.RFC3339)
			res.SigHash = sig.Hash.String()
			res.SigHasIssue = sig.IssuerKeyId != nil
		}
	}
	if *account != "" && akr.AccountID() != *account {
		fail("account-id", fmt.Errorf("account-id is %q, expected %q", akr.AccountID(), *account))
	}
	if *name != "" && akr.Name() != *name {
		fail("name", fmt.Errorf("name is %q, expected %q", akr.Name(), *name))
	}
	if *strict {
		if !res.SelfKey {
			fail("strict", fmt.Errorf("sign-key-sha3-384 differs from public-key-sha3-384"))
		}
		if !res.BodyCanon {
			fail("strict", fmt.Errorf("body is not the canonical encoding of the public key"))
		}
		if res.KeyBits < 4096 {
			fail("strict", fmt.Errorf("key has %d bits, want >= 4096", res.KeyBits))
		}
		if res.SigHash != "SHA-512" || sig == nil || sig.SigType != packet.SigTypeBinary || sig.PubKeyAlgo != packet.PubKeyAlgoRSA {
			fail("strict", fmt.Errorf("signature is not a v4 binary RSA/SHA-512 signature (%s)", res.SigHash))
		}
		known := map[string]bool{"type": true, "format": true, "revision": true, "public-key-sha3-384": true, "account-id": true,
			"name": true, "since": true, "until": true, "body-length": true, "sign-key-sha3-384": true}
		for h := range res.Headers {
			if !known[h] {
				fail("strict", fmt.Errorf("unexpected header %q", h))
			}
		}
	}
	res.OK = true
	emit()
}
