import { useQuery } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { PolicyReport, PolicyState } from '@tranche/api-schema'
import { type ReactNode, useId } from 'react'
import { PageMain } from '../../parts/page-main.tsx'
import { Crumbs } from '../../parts/crumbs.tsx'
import { LongText } from '../../parts/long-text.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../ports/renew-when-changed.ts'
import { useReport } from '../../ports/use-report.ts'
import { POLICY_ANNOTATION, policyCommand } from './policy-commands.ts'

/** The rules of a Rollout in words, and where they are set. */
export function PolicyPage({ rollout }: { readonly rollout: ApiKey }): ReactNode {
  const { api } = usePorts()
  // Keeps the rules current: they are read again when the Rollout changes.
  useReport(rollout)
  const { data, error, refetch } = useQuery({
    queryKey: [...queryKeyOf(rollout), 'policy'],
    queryFn: ({ signal }) => api.policy(rollout, { signal }),
  })
  return (
    <PageMain className="policy">
      <header className="rollout-header">
        <Crumbs rollout={rollout} />
        <h1>
          Policy <bdi className="quiet">{data?.name ?? ''}</bdi>
        </h1>
      </header>
      {error === null ? null : <ProblemNote error={error} retry={() => void refetch()} />}
      {data === undefined && error === null ? <p role="status">Reading the policy…</p> : null}
      {data === undefined ? null : <Rules rollout={rollout} policy={data} />}
    </PageMain>
  )
}

type PolicySection = PolicyReport['sections'][number]

const sectionTitles: Readonly<Record<PolicySection['section'], string>> = {
  nodes: 'Nodes and their order',
  maxUnavailable: 'Nodes down at a time',
  failure: 'A bad version',
  prePull: 'Images before deletion',
  drain: 'Drains',
  soak: 'Soak',
  analysis: 'Analyses',
  downtime: 'Beside other releases and programs',
  config: 'Config',
  notify: 'Notifications',
}

/** Properties of {@link Rules}. */
interface RulesProps {
  readonly rollout: ApiKey
  readonly policy: PolicyReport
}

function Rules({ rollout, policy }: RulesProps): ReactNode {
  const { sections } = policy
  return (
    <>
      <Origin rollout={rollout} policy={policy} />
      <div className="halves">
        {sections
          .filter(({ sentences, unusable }) => sentences.length > 0 || unusable !== undefined)
          .map((section) => (
            <Section key={section.section} section={section} />
          ))}
      </div>
    </>
  )
}

/** Where the rules are set. */
function Origin({ rollout, policy: { name, found, state } }: RulesProps): ReactNode {
  const { namespace, name: rolloutName } = rollout
  return (
    <section aria-labelledby="origin-title">
      <h2 id="origin-title">Where it is set</h2>
      {name === undefined ? (
        <p>
          The Rollout names no ReleasePolicy, so the defaults apply. To change them, create a ReleasePolicy in namespace{' '}
          <bdi>{namespace}</bdi> and name it in the annotation <code>{POLICY_ANNOTATION}</code> of the Rollout.
        </p>
      ) : (
        <p>
          ReleasePolicy <strong className="prose">{name}</strong> in namespace <bdi>{namespace}</bdi>, which the Rollout names in its
          annotation <code>{POLICY_ANNOTATION}</code>.
        </p>
      )}
      {name !== undefined && !found ? (
        <p className="tone-bad" role="alert">
          <strong>✕ It does not exist.</strong> No pod is deleted until it does.
        </p>
      ) : null}
      {found && state !== undefined ? <PolicyFault state={state} /> : null}
      <pre className="command">
        <code>{policyCommand({ namespace, rollout: rolloutName, policy: name })}</code>
      </pre>
    </section>
  )
}

/** Why the policy is not in force, or only in part. Nothing for a usable one. */
export function PolicyFault({ state: { valid, usable, message = '' } }: { readonly state: PolicyState }): ReactNode {
  if (usable) return null
  return (
    <div className={valid ? 'tone-wait' : 'tone-bad'} role="alert">
      {valid ? null : (
        <p>
          <strong>✕ It cannot be used.</strong> No pod is deleted until it is fixed, and the rules below are not in force.
        </p>
      )}
      <LongText>
        {valid ? '! ' : ''}
        {message}
      </LongText>
    </div>
  )
}

/** One subject of a policy: its rules, and those that are not in force. */
export function Section({ section: { section, sentences, unusable = [] } }: { readonly section: PolicySection }): ReactNode {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{sectionTitles[section]}</h2>
      {sentences.length === 0 ? null : <RuleList sentences={sentences} />}
      {unusable.map(({ reason, message, sentences: asked }) => (
        <div key={reason} className="not-in-force">
          <p className="prose">
            <strong className="tone-bad">✕ Not in force.</strong> {message}
          </p>
          <p className="hint">The policy asks for:</p>
          <RuleList sentences={asked} />
        </div>
      ))}
    </section>
  )
}

function RuleList({ sentences }: { readonly sentences: readonly string[] }): ReactNode {
  return (
    <ul className="rules">
      {sentences.map((sentence) => (
        <li key={sentence}>
          <LongText>{sentence}</LongText>
        </li>
      ))}
    </ul>
  )
}
