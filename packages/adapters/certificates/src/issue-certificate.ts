import 'reflect-metadata' // needed by @peculiar/x509, before it is loaded
import { Buffer } from 'node:buffer'
import type { webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { CertificateOrder, IssuedCertificate } from './issued.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
/** Tolerated clock skew of clients, in milliseconds. */
const SKEW_MS = 3_600_000

/** @see issueCertificate */
export async function issue({ names, nowMs, lastsMs }: CertificateOrder): Promise<IssuedCertificate> {
  const validity = { notBefore: new Date(nowMs - SKEW_MS), notAfter: new Date(nowMs + lastsMs), signingAlgorithm: algorithm }
  const [authorityKeys, keys] = [await createKeys(), await createKeys()]
  // Two authorities may be trusted at the same time, so each has its own name.
  const authority = await X509CertificateGenerator.createSelfSigned({
    ...{ ...validity, serialNumber: serialNumber(), name: `CN=tranche-webhook-ca-${serialNumber().slice(0, 8)}`, keys: authorityKeys },
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      await SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
  const certificate = await X509CertificateGenerator.create({
    ...{ ...validity, serialNumber: serialNumber(), subject: 'CN=tranche-webhook', issuer: authority.subject },
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: isAddress(value) ? 'ip' : 'dns', value }))),
      await AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  })
  return { authority: pem(authority.toString('pem')), cert: pem(certificate.toString('pem')), key: await privateKeyPem(keys.privateKey) }
}

function createKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

/** Positive and unpredictable. */
function serialNumber(): string {
  return `01${Buffer.from(crypto.getRandomValues(new Uint8Array(15))).toString('hex')}`
}

function isAddress(name: string): boolean {
  return /^[\d.]+$|:/.test(name)
}

function pem(text: string): string {
  return `${text.trim()}\n`
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64')
  return pem(`-----BEGIN PRIVATE KEY-----\n${base64.replace(/.{64}/g, '$&\n').trimEnd()}\n-----END PRIVATE KEY-----`)
}
