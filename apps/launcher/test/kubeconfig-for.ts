import { stringify } from 'yaml'

/** @returns a kubeconfig with one context, `tranche` */
export function kubeconfigFor({ url, caCertificate }: { readonly url: string; readonly caCertificate: string }, token: string): string {
  const name = 'tranche'
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': Buffer.from(caCertificate).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  })
}
