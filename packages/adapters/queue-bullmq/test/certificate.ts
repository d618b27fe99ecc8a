import 'reflect-metadata'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as x509 from '@peculiar/x509'

/** Arguments of redis-server for a TLS port, and the certificate to trust. */
export interface TlsFiles {
  readonly args: readonly string[]
  /** PEM of the certificate, which signs itself. */
  readonly ca: string
}

/** Writes a certificate for `host` (a name) and its key into `folder`. */
export async function writeTlsFiles(folder: string, port: number, host: string): Promise<TlsFiles> {
  const { certificate, key } = await selfSigned(host)
  const [certificateFile, keyFile] = [join(folder, 'server.crt'), join(folder, 'server.key')]
  writeFileSync(certificateFile, certificate)
  writeFileSync(keyFile, key)
  const files = ['--tls-cert-file', certificateFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certificateFile]
  return { args: ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files], ca: certificate }
}

async function selfSigned(host: string): Promise<{ readonly certificate: string; readonly key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=test',
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
    ],
  })
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  return { certificate: certificate.toString('pem'), key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n` }
}
