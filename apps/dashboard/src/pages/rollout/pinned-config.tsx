import { keptCopyReasons, type RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'

/** Copies of ConfigMaps and Secrets that pods of the present template read. Nothing without any. */
export function PinnedConfigSection({ report: { pinnedConfig = [], conditions } }: { readonly report: RolloutReport }): ReactNode {
  if (pinnedConfig.length === 0) return null
  const kept = conditions.find(({ type, reason }) => type === 'ConfigUnversioned' && keptCopyReasons.includes(reason))
  return (
    <section aria-labelledby="pinned-title" className="kept">
      <h2 id="pinned-title">Pinned config</h2>
      <dl className="names">
        {pinnedConfig.map(({ kind, name, copy }) => (
          <div key={`${kind}/${name}`}>
            <dt>
              {kind} <bdi>{name}</bdi>
            </dt>
            <dd className="prose">
              pods read its copy <code>{copy}</code>
            </dd>
          </div>
        ))}
      </dl>
      {kept !== undefined && <p>{kept.message}</p>}
    </section>
  )
}
