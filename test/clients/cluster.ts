import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { customResourceDefinitions } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { createSimulator, type Simulator, type SimulatorOptions } from '@tranche/sim'
import { type FaultInjector, listen, resources } from '@tranche/sim-api'

/** A simulated cluster on a socket, in real time. */
export interface Cluster {
  readonly simulator: Simulator
  readonly url: string
  readonly caCertificate: string
  readonly token: string
  /** A temporary folder that is deleted with the cluster. */
  readonly folder: string
  /** Path of a kubeconfig for the administrator. */
  readonly kubeconfig: string
  end(): Promise<void>
}

/** Options of a cluster. */
export interface ClusterOptions {
  /** Injects faults, and sees every request. */
  readonly faults?: FaultInjector
  /** Whether Tranche's CustomResourceDefinitions are applied. @default true */
  readonly definitions?: boolean
  /** Access to webhooks, as for `createSimulator`. */
  readonly webhooks?: SimulatorOptions['webhooks']
  /** Called with one line for every accepted write, as for `createSimulator`. */
  readonly record?: (line: string) => void
}

/** @param nodes number of nodes to start, with controllers and kubelets; with 0, only the API server runs */
export async function startCluster(nodes: number, { faults, record, webhooks, definitions = true }: ClusterOptions = {}): Promise<Cluster> {
  const simulator = createSimulator({
    clock: systemClock,
    nodes,
    speed: 20,
    watchDelayMs: 1,
    ...(faults && { faults }),
    ...(webhooks && { webhooks }),
    ...(record && { record }),
  })
  const admin = simulator.clientFor({ name: 'admin' })
  for (const definition of definitions ? customResourceDefinitions : []) await admin.create(resources.customResourceDefinitions, definition)
  const server = await listen(simulator.front, { port: 0 })
  if (nodes > 0) await simulator.start()
  const folder = mkdtempSync(join(tmpdir(), 'tranche-clients-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const access = { url: server.url, caCertificate: server.caCertificate, token: simulator.adminToken }
  writeFileSync(kubeconfig, kubeconfigText(access))
  return {
    simulator,
    ...access,
    folder,
    kubeconfig,
    async end() {
      simulator.stop()
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Writes JSON, which is valid YAML. */
function kubeconfigText({ url, caCertificate, token }: Pick<Cluster, 'url' | 'caCertificate' | 'token'>): string {
  const data = Buffer.from(caCertificate).toString('base64')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'sim', cluster: { server: url, 'certificate-authority-data': data } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'sim', context: { cluster: 'sim', user: 'admin', namespace: 'default' } }],
    'current-context': 'sim',
  })
}

/** DaemonSet `agent` with this image tag. */
export function agentManifest(tag: string) {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'main', image: `agent:${tag}` }] } },
    },
  }
}

/** Rollout of the DaemonSet, which waits for an approval after the first node. */
export const agentRollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { name: 'agent', namespace: 'default' },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
  },
}
