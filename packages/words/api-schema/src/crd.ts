import type { z } from 'zod'
import { batchReleaseSchema } from './batch-release.ts'
import { releasePolicySchema } from './release-policy.ts'
import { rolloutSchema } from './rollout.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

/** One column of `kubectl get`. @see apiextensions/v1 CustomResourceColumnDefinition */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date'
  readonly description?: string
  readonly jsonPath: string
}

/** The used fields of apiextensions/v1 CustomResourceDefinition. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly scope: 'Namespaced'
    readonly names: {
      readonly plural: string
      readonly singular: string
      readonly shortNames?: readonly string[]
      readonly kind: string
      readonly listKind: string
    }
    readonly versions: readonly {
      readonly name: string
      readonly served: boolean
      readonly storage: boolean
      readonly subresources: { readonly status: Record<string, never> }
      readonly additionalPrinterColumns: readonly PrinterColumn[]
      readonly schema: { readonly openAPIV3Schema: StructuralSchema }
    }[]
  }
}

const age: PrinterColumn = { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' }

const rollouts = define({
  group: 'rollouts.kruise.io',
  version: 'v1beta1',
  plural: 'rollouts',
  kind: 'Rollout',
  // Argo Rollouts has a resource of the same plural.
  shortNames: ['trollout'],
  description: 'Rollout releases the updates of a workload in steps.',
  spec: rolloutSchema.shape.spec,
  status: rolloutSchema.shape.status.unwrap(),
  columns: [
    { name: 'STATUS', type: 'string', description: 'Phase of the Rollout', jsonPath: '.status.phase' },
    { name: 'CANARY_STEP', type: 'integer', description: 'Current step, from 1', jsonPath: '.status.currentStepIndex' },
    { name: 'CANARY_STATE', type: 'string', description: 'State of the current step', jsonPath: '.status.currentStepState' },
    { name: 'MESSAGE', type: 'string', description: 'What the Rollout waits for', jsonPath: '.status.message' },
    age,
  ],
})

const batchReleases = define({
  group: 'rollouts.kruise.io',
  version: 'v1beta1',
  plural: 'batchreleases',
  kind: 'BatchRelease',
  description: 'BatchRelease is one release of a workload, batch by batch.',
  spec: batchReleaseSchema.shape.spec,
  status: batchReleaseSchema.shape.status.unwrap(),
  columns: [
    { name: 'KIND', type: 'string', jsonPath: '.spec.workloadRef.kind' },
    { name: 'PHASE', type: 'string', jsonPath: '.status.phase' },
    { name: 'BATCH', type: 'integer', jsonPath: '.status.canaryStatus.currentBatch' },
    { name: 'BATCH-STATE', type: 'string', jsonPath: '.status.canaryStatus.batchState' },
    age,
  ],
})

const releasePolicies = define({
  group: 'tranche.dev',
  version: 'v1alpha1',
  plural: 'releasepolicies',
  kind: 'ReleasePolicy',
  description: 'ReleasePolicy has the conditions under which releases may continue. Several Rollouts can share one.',
  spec: releasePolicySchema.shape.spec,
  isBounded: true,
  status: releasePolicySchema.shape.status.unwrap(),
  columns: [
    {
      name: 'VALID',
      type: 'string',
      description: 'Whether the policy passes validation',
      jsonPath: '.status.conditions[?(@.type=="Valid")].status',
    },
    {
      name: 'USABLE',
      type: 'string',
      description: 'Whether every Secret can be read, every host is allowed, and the installation allows what the policy asks for',
      jsonPath: '.status.conditions[?(@.type=="Usable")].status',
    },
    { name: 'ACTION', type: 'string', description: 'Failure action in effect', jsonPath: '.status.failureAction' },
    { name: 'ROLLOUTS', type: 'integer', description: 'Number of Rollouts that use the policy', jsonPath: '.status.rolloutCount' },
    age,
  ],
})

/** CustomResourceDefinitions of Tranche, as applied to a cluster and checked in as YAML. */
export const customResourceDefinitions: readonly CustomResourceDefinition[] = [rollouts, batchReleases, releasePolicies]

interface Definition {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  /** Further names for kubectl. @default none */
  readonly shortNames?: readonly string[]
  readonly description: string
  readonly spec: z.ZodType
  /** Whether the API server refuses specs with values that no version of Tranche accepts. @default false */
  readonly isBounded?: boolean
  readonly status: z.ZodType
  readonly columns: readonly PrinterColumn[]
}

function define(definition: Definition): CustomResourceDefinition {
  const { group, version, plural, kind, shortNames, columns } = definition
  const singular = kind.toLowerCase()
  // Lazy: commands that compare no schema need not wait for it.
  let made: StructuralSchema | undefined
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular, ...(shortNames !== undefined && { shortNames }), kind, listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: {
            get openAPIV3Schema() {
              return (made ??= rootSchema(definition))
            },
          },
        },
      ],
    },
  }
}

function rootSchema({ description, spec, isBounded = false, status }: Definition): StructuralSchema {
  return {
    description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'API group and version of the object.' },
      kind: { type: 'string', description: 'Kind of the object.' },
      metadata: { type: 'object' },
      spec: structuralSchema(spec, isBounded ? 'spec' : undefined),
      status: structuralSchema(status),
    },
  }
}
