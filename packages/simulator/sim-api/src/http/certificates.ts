import 'reflect-metadata' // needed by @peculiar/x509, before it is loaded
import { systemClock } from '@tranche/clock'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

/** Server certificate and its CA certificate, in PEM. */
export interface ServerCertificate {
  readonly caCertificate: string
  readonly certificate: string
  readonly privateKey: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
/** Of the platform: Node.js and browsers declare the types of Web Crypto differently. */
type KeyPair = Awaited<ReturnType<typeof createKeys>>
const dayMs = 24 * 60 * 60 * 1000

/**
 * Creates a CA and a certificate for `localhost`, 127.0.0.1 and ::1 signed by it. Both are new on each call and valid for a year of this
 * machine's time, whatever the simulation's time is. The CA's key is discarded.
 */
export async function createServerCertificate(): Promise<ServerCertificate> {
  const authorityKeys = await createKeys()
  const authority = await createAuthority(authorityKeys)
  const keys = await createKeys()
  const certificate = await createLeaf(keys, authority, authorityKeys)
  return {
    caCertificate: authority.toString('pem'),
    certificate: certificate.toString('pem'),
    privateKey: await privateKeyPem(keys.privateKey),
  }
}

function createKeys() {
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

async function createAuthority(keys: KeyPair): Promise<X509Certificate> {
  return X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=tranche-simulator-ca',
    ...validity(),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
}

async function createLeaf(keys: KeyPair, authority: X509Certificate, authorityKeys: KeyPair): Promise<X509Certificate> {
  return X509CertificateGenerator.create({
    serialNumber: '02',
    subject: 'CN=tranche-simulator',
    issuer: authority.subject,
    ...validity(),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
      await AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
}

function validity(): { readonly notBefore: Date; readonly notAfter: Date } {
  const nowMs = systemClock.nowMs()
  return { notBefore: new Date(nowMs - dayMs), notAfter: new Date(nowMs + 365 * dayMs) }
}

async function privateKeyPem(key: KeyPair['privateKey']): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64')
  return `-----BEGIN PRIVATE KEY-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`
}
