import type { LoadedCluster } from '@tranche/kube-client'
import type { ClusterSource } from '../options/access-options.ts'
import type { CommandIo } from '../process/command-io.ts'
import type { OpenCluster } from './open-session.ts'

/**
 * Connects to the cluster; loads the clients only now, which takes longer than a command like `--help` may take.
 *
 * @throws {AppError} KUBECONFIG_INVALID
 */
export async function connectCluster(source: ClusterSource, io: CommandIo): Promise<OpenCluster> {
  return (await import('./open-session.ts')).openCluster(source, io)
}

/** @returns the error with the API server, the context and a hint */
export async function explainClusterError(error: unknown, cluster: LoadedCluster): Promise<unknown> {
  return (await import('./explain-error.ts')).explained(error, cluster)
}
