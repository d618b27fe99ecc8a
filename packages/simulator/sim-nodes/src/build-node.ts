import type { Condition, Taint } from '@tranche/kube-types'
import { timestamp } from '@tranche/sim-api'

/** Optional properties of a new node. */
export interface NodeOptions {
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
}

const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const

/** @returns `node-001` and so on, padded to the digits of `total`, three at least */
export function nodeName(number: number, total: number): string {
  return `node-${String(number).padStart(Math.max(3, String(total).length), '0')}`
}

/**
 * Builds a Node to create, Ready from the start.
 *
 * @param number from 1; determines zone and address
 */
export function buildNode(name: string, number: number, nowMs: number, { labels, taints }: NodeOptions = {}): unknown {
  const standard = {
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': hostnameOf(name),
    'kubernetes.io/os': 'linux',
    'topology.kubernetes.io/zone': ZONES[(number - 1) % ZONES.length],
  }
  const capacity = { cpu: '8', memory: '32Gi', pods: '110' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...standard, ...labels } },
    spec: { ...(taints && { taints }) },
    status: {
      capacity,
      allocatable: capacity,
      addresses: [
        { type: 'InternalIP', address: `10.${(number >> 16) & 63}.${(number >> 8) & 255}.${number & 255}` },
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        kubeletVersion: 'v1.36.2',
        osImage: 'Tranche simulator',
        containerRuntimeVersion: 'sim://1',
        architecture: 'amd64',
        operatingSystem: 'linux',
      },
      conditions: nodeConditions(nowMs),
    },
  }
}

/** Conditions that kubelets write, and the node controller sets to Unknown. Those of other programs stay as they are. */
export const kubeletConditions: ReadonlySet<string> = new Set(['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'])

/** @returns conditions of a node; `isFit` false: as with a broken pod network */
export function nodeConditions(nowMs: number, isFit = true): readonly Condition[] {
  const atText = timestamp(nowMs)
  const condition = (
    type: string,
    status: string,
    reason: string,
    message: string,
  ): Condition & { readonly lastHeartbeatTime: string } => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: atText,
    lastHeartbeatTime: atText,
  })
  return [
    condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    isFit
      ? condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
      : condition('Ready', 'False', 'KubeletNotReady', 'container runtime network not ready: cni plugin not initialized'),
  ]
}

/** A machine's name without its domain where both together are no label value. */
function hostnameOf(name: string): string {
  return name.length <= LONGEST_LABEL ? name : name.slice(0, name.indexOf('.'))
}

const LONGEST_LABEL = 63
