/**
 * Maximum sizes in the specs of Rollouts, BatchReleases and ReleasePolicies. The definitions state them, so that the API server rejects
 * more, and validation checks them, because the definitions in a cluster may be older. One controller checks the objects of all
 * namespaces: without these limits, one user could stop it for all.
 */
export const sizeLimits = {
  steps: 50,
  /** Labels and expressions of one selector. */
  requirements: 50,
  /** Values of one expression of a selector. */
  values: 1_000,
  orders: 20,
  excluded: 20,
  spreads: 10,
  consumers: 20,
  ignoredReasons: 100,
  analyses: 20,
  arguments: 50,
  headers: 20,
  receivers: 20,
  events: 50,
  /** Characters of a label key: a domain, a slash and a name. */
  labelKey: 317,
  /** Characters of a label value, a revision, or the name of an entry. */
  name: 63,
  /** Characters of an object name, or of a key of a Secret. */
  objectName: 253,
  /** Characters of one of several known words. */
  word: 64,
  /** Characters of a duration. */
  duration: 64,
  /** Characters of a number of nodes or a percentage, as text. */
  amount: 64,
  /** Characters of a waiting reason, or of the name of a header. */
  reason: 100,
  url: 2_048,
  headerValue: 8_192,
  /** Characters of a query, a condition or an argument. */
  expression: 10_000,
  template: 4_000,
  body: 65_536,
  /** Characters of an identity that the controller writes, such as that of an action. */
  identity: 256,
  /** Characters of a message that the controller writes. */
  message: 4_096,
} as const

/** Maximum sizes of a whole spec: every pass over a release compares its selectors with every node. */
interface SpecLimits {
  /** Labels and expressions of all selectors together. */
  readonly requirements: number
  /** Values of all expressions of selectors together. */
  readonly values: number
  /** Entries of all lists, maps and objects together. */
  readonly entries: number
}

const ofOneObject: SpecLimits = { requirements: 500, values: 5_000, entries: 25_000 }

/** @see SpecLimits. A BatchRelease has the steps of a Rollout and the terms of a ReleasePolicy. */
export const specLimits = {
  Rollout: ofOneObject,
  ReleasePolicy: ofOneObject,
  BatchRelease: {
    requirements: 2 * ofOneObject.requirements,
    values: 2 * ofOneObject.values,
    entries: 2 * ofOneObject.entries,
  },
} as const satisfies Record<string, SpecLimits>
