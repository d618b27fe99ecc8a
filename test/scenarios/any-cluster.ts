import { randomBytes } from 'node:crypto'
import { customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import {
  createKubeClient,
  createUndiciExchange,
  isAlreadyExists,
  type KubeClient,
  loadKubeConfig,
  resourcePaths,
} from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { startCluster } from '../clients/cluster.ts'

/** A cluster with DaemonSets, RBAC and Tranche's definitions: a real one, or the simulator. Tests know nothing else about it. */
export interface AnyCluster {
  readonly kubeconfig: string
  /** Prefix of all names of this run. */
  readonly run: string
  readonly admin: KubeClient
  /** Client that impersonates this user. */
  as(user: string): Promise<KubeClient>
  /** Token of a service account, which is created if it does not exist. */
  token(namespace: string, account: string): Promise<string>
  end(): Promise<void>
}

/**
 * Opens the cluster of the kubeconfig in `TRANCHE_TEST_KUBECONFIG`, or the simulator if the variable is not set.
 *
 * @throws {Error} if the cluster has Rollouts, because a Tranche controller would act on them
 */
export async function openAnyCluster(nodes: number): Promise<AnyCluster> {
  const path = process.env['TRANCHE_TEST_KUBECONFIG'] ?? ''
  if (path !== '') return opened(path, async () => undefined)
  const cluster = await startCluster(nodes)
  return opened(cluster.kubeconfig, () => cluster.end())
}

async function opened(kubeconfig: string, onEnd: () => Promise<void>): Promise<AnyCluster> {
  const closing: (() => Promise<void>)[] = []
  const connect = async (user?: string): Promise<KubeClient> => {
    const impersonate = user === undefined ? {} : { impersonate: { user, groups: [] } }
    const { exchange, watchExchange, close } = createUndiciExchange(
      await loadKubeConfig({ clock: systemClock, path: kubeconfig, ...impersonate }),
    )
    closing.push(close)
    return createKubeClient({ exchange, watchExchange, clock: systemClock, log: silentLogger, userAgent: 'test/1' })
  }
  const admin = await connect()
  await define(admin)
  const rollouts = await admin.list<Rollout>(resourcePaths.rollouts)
  if (rollouts.items.length > 0) throw new Error(`the cluster of ${kubeconfig} has Rollouts: name a cluster that is not in use`)
  return {
    kubeconfig,
    run: `attack-${randomBytes(3).toString('hex')}`,
    admin,
    as: connect,
    async token(namespace, name) {
      await admin.create(serviceAccounts, { metadata: { namespace, name } }).catch(unlessThere)
      const at = { ...serviceAccounts, plural: `serviceaccounts/${name}/token` }
      const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: { namespace }, spec: {} }
      return ((await admin.create(at, request)) as unknown as { readonly status: { readonly token: string } }).status.token
    },
    async end() {
      for (const close of closing) await close()
      await onEnd()
    },
  }
}

const serviceAccounts = { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true }

async function define(admin: KubeClient): Promise<void> {
  for (const definition of customResourceDefinitions)
    await admin.create(resourcePaths.customResourceDefinitions, definition).catch(unlessThere)
  await admin.text('/openapi/v3')
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error
}
