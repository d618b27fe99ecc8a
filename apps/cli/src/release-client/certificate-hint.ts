/** Error codes of OpenSSL and Node.js for rejected certificates. */
const CODE = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/

/** @returns the hint for a certificate that is not trusted; undefined for every other error */
export function certificateHint(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string' && CODE.test(error.code))
    return 'Check the certificate of the API server: its expiry, its host names, and that its issuer is the authority in the kubeconfig or in ca.crt of the pod.'
  return certificateHint(error.cause)
}
