/** Statements about what was built, in the format of in-toto. */
import { type Addresses, pageOf } from './addresses.ts'

/** Something that a statement is about. */
export interface StatementSubject {
  readonly name: string
  readonly digest: { readonly sha256: string }
}

/** @see https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md */
export interface Statement {
  readonly _type: 'https://in-toto.io/Statement/v1'
  readonly subject: readonly StatementSubject[]
  readonly predicateType: string
  readonly predicate: object
}

/** Predicate type of provenance. */
export const PROVENANCE = 'https://slsa.dev/provenance/v1'
/** Predicate type with which cosign signs an image or chart. */
export const SIGNATURE = 'https://sigstore.dev/cosign/sign/v1'

/** What built the version. */
export interface BuildRun {
  readonly version: string
  readonly commit: string
  readonly addresses: Addresses
  /** Run of a workflow; null on a machine of a developer. */
  readonly workflow: WorkflowRun | null
}

/** A run of a workflow of GitHub. */
export interface WorkflowRun {
  /** Value of `GITHUB_WORKFLOW_REF`: `OWNER/NAME/.github/workflows/release.yml@refs/tags/v1.2.3`. */
  readonly ref: string
  readonly runId: string
  readonly attempt: string
  /** Image in which the workflow runs: `NAME@sha256:…`. */
  readonly image: string
}

/** @see https://slsa.dev/spec/v1.0/provenance */
export function provenanceOf(subject: readonly StatementSubject[], run: BuildRun): Statement {
  const page = pageOf(run.addresses)
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: PROVENANCE,
    predicate: {
      buildDefinition: {
        ...(run.workflow === null ? buildOnMachine(run.version) : buildInWorkflow(run.workflow, page)),
        resolvedDependencies: [
          { uri: `git+${page}@refs/tags/v${run.version}`, digest: { gitCommit: run.commit } },
          ...(run.workflow === null ? [] : [imageDependency(run.workflow.image)]),
        ],
      },
      runDetails:
        run.workflow === null
          ? { builder: { id: `${page}/dry-run` } }
          : {
              builder: { id: `https://github.com/${run.workflow.ref}` },
              metadata: { invocationId: `${page}/actions/runs/${run.workflow.runId}/attempts/${run.workflow.attempt}` },
            },
    },
  }
}

/** @returns statement with which cosign signs what has this digest */
export function signatureOf(sha256: string): Statement {
  return { _type: 'https://in-toto.io/Statement/v1', subject: [{ name: '', digest: { sha256 } }], predicateType: SIGNATURE, predicate: {} }
}

function buildOnMachine(version: string): object {
  return { buildType: 'https://tranche.dev/builds/dry-run', externalParameters: { version } }
}

function imageDependency(image: string): object {
  const [name = '', sha256 = ''] = image.split('@sha256:')
  return { uri: `oci://${name}`, digest: { sha256 } }
}

function buildInWorkflow({ ref }: WorkflowRun, page: string): object {
  const [path = '', gitRef = ''] = ref.split('@')
  return {
    buildType: 'https://actions.github.io/buildtypes/workflow/v1',
    externalParameters: { workflow: { ref: gitRef, repository: page, path: path.split('/').slice(2).join('/') } },
  }
}
