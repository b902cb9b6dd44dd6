package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf/cluster"
)

// Tasks and the program that starts them have a certificate each, which a CA has
// signed that lives as long as the program: what openssl or cert-manager do for
// clusters that last.

// security opens what secures a process that has a certificate in a directory; nil
// if there is no directory.
func security(dir, name string) (*cluster.Security, error) {
	if dir == "" {
		return nil, nil
	}
	in := func(file string) string { return filepath.Join(dir, file) }
	f := cluster.SecurityFiles{Cert: in(name + ".pem"), Key: in(name + ".key"), CA: in("ca.pem"), Roles: in("roles")}
	return cluster.OpenSecurity(f, nil, nil)
}

// roles says what the names in certificates may do: tasks clear each other's
// containers, the evaluator runs steps.
const roles = "administer task\nrun evaluator\n"

// issue writes the certificates of all processes to a new directory, which the
// caller removes. They are for the hosts that tasks take.
func issue(hosts []string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "gorge-certificates"); err != nil {
		return "", err
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	key, err := sign(dir, "ca", ca, ca, nil)
	for i, name := range []string{"task", "evaluator"} {
		if err != nil {
			break
		}
		c := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 2)), Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
		for _, h := range hosts {
			if ip := net.ParseIP(strings.TrimSpace(h)); ip != nil {
				c.IPAddresses = append(c.IPAddresses, ip)
			} else {
				c.DNSNames = append(c.DNSNames, h)
			}
		}
		_, err = sign(dir, name, c, ca, key)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "roles"), []byte(roles), 0o600)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// sign writes a certificate and its key, which it returns. The signer is nil for a
// certificate that signs itself.
func sign(dir, name string, c, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if signer == nil {
		signer = key
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Minute), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	write := func(file, typ string, b []byte) error {
		return os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: b}), 0o600)
	}
	return key, errors.Join(write(name+".pem", "CERTIFICATE", der), write(name+".key", "PRIVATE KEY", secret))
}
