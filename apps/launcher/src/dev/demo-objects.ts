import { ROLLOUTS_API_VERSION, type ObjectKey } from '@tranche/kube-types'

/** Key of the demo DaemonSet and of its Rollout. */
export const demoKey: ObjectKey = { namespace: 'demo', name: 'node-agent' }
/** Name of its only container. */
export const DEMO_CONTAINER = 'agent'

/** @returns the image of one version: `v1`, `v2` */
export function demoImage(version: string): string {
  return `registry.example/node-agent:${version}`
}

/** Namespace of the demo, created first. */
export const demoNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: demoKey.namespace } } as const

const labels = { app: demoKey.name }

/** The DaemonSet: pods take one to three seconds to start and half a second to stop. */
export const demoDaemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { ...demoKey, labels },
  spec: {
    selector: { matchLabels: labels },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
    template: {
      metadata: {
        labels,
        annotations: { 'sim.tranche.dev/start-ms': '1000', 'sim.tranche.dev/jitter-ms': '2000', 'sim.tranche.dev/stop-ms': '500' },
      },
      spec: {
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: DEMO_CONTAINER, image: demoImage('v1'), resources: { requests: { cpu: '50m', memory: '64Mi' } } }],
      },
    },
  },
} as const

/** The Rollout: a tenth of the nodes, then approval; half of them, then a pause of seconds; then all. */
export const demoRollout = {
  apiVersion: ROLLOUTS_API_VERSION,
  kind: 'Rollout',
  metadata: { ...demoKey },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: demoKey.name },
    strategy: {
      canary: {
        steps: [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: { duration: 5 } }, { replicas: '100%' }],
      },
    },
  },
} as const
