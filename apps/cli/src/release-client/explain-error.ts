import { AppError, isAppError } from '@tranche/errors'
import { KubeStatusError, type LoadedCluster } from '@tranche/kube-client'
import type { ServerSource } from '../options/access-options.ts'
import { certificateHint } from './certificate-hint.ts'

/** @returns the error with what a person at a terminal needs to know: which API server, by which context, and what to do */
export function explained(error: unknown, { server, context }: LoadedCluster): unknown {
  if (!isAppError(error)) return error
  const where = `${server} (context ${context})`
  const details = { server, context }
  if (error instanceof KubeStatusError) return explainedStatus(error, where)
  if (error.code !== 'API_UNREACHABLE' && error.code !== 'API_DEADLINE') return error
  return new AppError(error.code, `the API server ${where} does not answer: ${error.message}`, {
    details,
    hint: certificateHint(error) ?? 'Check that the cluster runs and that the kubeconfig names its present address.',
    cause: error,
  })
}

/** The same for the REST API, whose problems say by themselves what is wrong. */
export function explainedOfServer(error: unknown, { url }: ServerSource): unknown {
  if (isAppError(error) && error.code === 'API_REFUSED' && /"kind": ?"Status"/.test(error.message))
    return new AppError('API_REFUSED', `${url} is an API server of Kubernetes: --server asks the REST API of Tranche`, {
      details: { server: url },
      hint: 'Leave --server out, and choose the cluster with --context, --cluster or --kubeconfig.',
      cause: error,
    })
  if (!isAppError(error) || (error.code !== 'API_UNREACHABLE' && error.code !== 'API_DEADLINE')) return error
  return new AppError(error.code, `the REST API ${url} does not answer: ${error.message}`, {
    details: { server: url },
    hint: 'Check the address behind --server, which is not that of an API server as with kubectl; NODE_EXTRA_CA_CERTS names a file of certificates to trust.',
    cause: error,
  })
}

function explainedStatus(error: KubeStatusError, where: string): AppError {
  const said = error.message.replace(/^.*? was answered with /, '')
  const say = (message: string, hint: string): AppError =>
    new AppError('API_REFUSED', message, { details: error.details, hint, cause: error })
  if (error.status === 401)
    return say(`the API server ${where} answers ${said}`, 'Log in again, or check the credentials of the kubeconfig.')
  if (error.status === 403)
    return say(
      `the API server ${where} answers ${said}`,
      'Ask whoever runs the cluster for this right; docs/cli.md lists what each command needs.',
    )
  // Of an object that is missing the server says which; of a resource that it does not serve, nothing.
  if (error.status === 404 && !error.message.includes('"'))
    return say(
      `the API server ${where} serves no Rollouts`,
      'Install the CustomResourceDefinitions of Tranche; tranche doctor says what is missing.',
    )
  return error
}
