import { ApiProblemError } from '@tranche/api-client'
import { AppError, isAppError } from '@tranche/errors'
import { KubeStatusError, type LoadedCluster } from '@tranche/kube-client'
import type { ServerSource } from '../options/access-options.ts'
import { certificateHint } from './certificate-hint.ts'

/** @returns the error with the API server, the context and a hint */
export function explained(error: unknown, { server, context }: LoadedCluster): unknown {
  if (!isAppError(error)) return error
  const where = `${server} (context ${context})`
  const details = { server, context }
  if (error instanceof KubeStatusError) return explainedStatus(error, where)
  if (error.code !== 'API_UNREACHABLE' && error.code !== 'API_DEADLINE') return error
  return new AppError(error.code, `the API server ${where} does not answer: ${error.message}`, {
    details,
    hint: certificateHint(error) ?? 'Check that the cluster runs and that the kubeconfig has its current address.',
    cause: error,
  })
}

/** {@link explained} for the REST API, whose problem details need no further explanation. */
export function explainedOfServer(error: unknown, { url, token, tokenFile }: ServerSource): unknown {
  const hasToken = token !== undefined || tokenFile !== undefined
  if (error instanceof ApiProblemError && error.isKubeStatus)
    return new AppError('API_REFUSED', `${url} is a Kubernetes API server, but --server takes the Tranche REST API`, {
      details: { server: url },
      hint: 'Leave --server out, and choose the cluster with --context, --cluster or --kubeconfig.',
      cause: error,
    })
  if (isAppError(error) && error.code === 'TOKEN_INVALID')
    return new AppError(error.code, `the REST API ${url} ${hasToken ? 'does not accept the token' : 'requires a token'}`, {
      details: { server: url },
      hint: 'Pass a token that the API server accepts with --token-file PATH or TRANCHE_TOKEN.',
      cause: error,
    })
  if (!isAppError(error) || (error.code !== 'API_UNREACHABLE' && error.code !== 'API_DEADLINE')) return error
  return new AppError(error.code, `the REST API ${url} does not answer: ${error.message}`, {
    details: { server: url },
    hint: 'Check the address in --server: unlike in kubectl, it is not that of an API server. NODE_EXTRA_CA_CERTS names a file of certificates to trust.',
    cause: error,
  })
}

function explainedStatus(error: KubeStatusError, where: string): AppError {
  const said = `${error.status}${error.reason && ` ${error.reason}`}${error.serverMessage && `: ${error.serverMessage}`}`
  const say = (message: string, hint: string): AppError =>
    new AppError('API_REFUSED', message, { details: error.details, hint, cause: error })
  if (error.status === 401)
    return say(`the API server ${where} answers ${said}`, 'Log in again, or check the credentials of the kubeconfig.')
  if (error.status === 403)
    return say(
      `the API server ${where} answers ${said}`,
      'Ask the cluster administrator for this permission; docs/guides/cli.md lists what each command needs.',
    )
  // A 404 names a missing object, but not a resource that is not served.
  if (error.status === 404 && error.objectName === undefined)
    return say(
      `the API server ${where} serves no Rollouts`,
      'Install the CustomResourceDefinitions of Tranche; tranche doctor shows what is missing.',
    )
  return error
}
