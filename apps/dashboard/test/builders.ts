import type { NodeReport, RolloutReport, RolloutSummary } from '@tranche/api-schema'

/** @returns a summary of a Rollout that is up to date, with changes */
export function summary(changes: Partial<RolloutSummary> = {}): RolloutSummary {
  return {
    namespace: 'demo',
    name: 'agent',
    daemonSet: 'agent',
    phase: 'Healthy',
    reason: 'Completed',
    outcome: 'Done',
    message: 'every node runs v1',
    paused: false,
    disabled: false,
    images: ['registry.example/agent:v1'],
    nodes: { desired: 10, updated: 10, updatedAvailable: 10, unavailable: 0, failed: 0, leaked: 0, skipped: 0 },
    resourceVersion: '1',
    createdAt: '2026-11-26T00:00:00Z',
    ...changes,
  }
}

/** @returns a report of a release that pauses at the first of three steps, with changes */
export function report(changes: Partial<RolloutReport> = {}): RolloutReport {
  return {
    ...summary({
      phase: 'Progressing',
      outcome: 'Waiting',
      images: ['registry.example/agent:v2'],
      stableImages: ['registry.example/agent:v1'],
      canaryRevision: 'canary',
      stableRevision: 'stable',
      nodes: { desired: 10, updated: 1, updatedAvailable: 1, unavailable: 0, failed: 0, leaked: 0, skipped: 0 },
      step: { index: 1, count: 3, state: 'StepPaused' },
    }),
    steps: [
      { index: 1, replicas: '10%', nodes: 1, pause: 'person', state: 'current' },
      { index: 2, replicas: '50%', nodes: 5, pause: '600s', state: 'ahead' },
      { index: 3, replicas: '100%', nodes: 10, state: 'ahead' },
    ],
    heldRevisions: [],
    actions: ['approve', 'abort'],
    zones: [],
    skippedNodes: [],
    conditions: [],
    ...changes,
  }
}

/** @returns a node, with changes */
export function node(name: string, changes: Partial<NodeReport> = {}): NodeReport {
  return { name, zone: 'a', state: 'updated', role: 'canary', ...changes }
}
