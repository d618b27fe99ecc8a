/** What OpenSSL and Node.js call certificates that they do not take. */
const CODE = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/

/** @returns what to do about a server whose certificate is not trusted; undefined for every other error */
export function certificateHint(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string' && CODE.test(error.code))
    return 'Check the certificate of the API server: until when it is good, for which host, and whether the authority that signed it is the one that the kubeconfig, or ca.crt of the pod, names.'
  return certificateHint(error.cause)
}
