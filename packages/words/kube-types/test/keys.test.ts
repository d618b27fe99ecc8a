import * as kubeTypes from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const { daemonSetAnnotations, rolloutAnnotations } = kubeTypes

const keys = [
  ...Object.values(daemonSetAnnotations),
  ...Object.values(rolloutAnnotations),
  kubeTypes.WORKLOAD_TYPE_LABEL,
  kubeTypes.ROLLOUT_ID_LABEL,
  kubeTypes.ROLLOUT_BATCH_ID_LABEL,
  kubeTypes.TOUCHED_ANNOTATION,
  kubeTypes.ROLLOUT_FINALIZER,
  kubeTypes.BATCH_RELEASE_FINALIZER,
]

describe('keys on objects', () => {
  it('are all different', () => {
    expect(new Set(keys).size).toBe(keys.length)
  })

  it.each(keys)('%s is a qualified name that the API server accepts', (key) => {
    expect(key).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/)
  })

  it.each(keys)('%s has a domain of OpenKruise or Tranche', (key) => {
    expect(key.split('/')[0]).toMatch(/^((batchrelease\.)?rollouts\.kruise\.io|tranche\.dev)$/)
  })
})
