import type { RevisionReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { imageVersion } from '../../../format/image-change.ts'
import { Age } from '../../../parts/time.tsx'
import { causeText } from './cause-text.ts'

/** Words for the roles of revisions in a release. */
const roleWords: Readonly<Record<RevisionReport['role'], string>> = {
  stable: 'stable',
  canary: 'canary',
  former: 'former',
  superseded: 'superseded',
  none: '–',
}

/** The revisions of the DaemonSet, newest first. */
export function RevisionList({ revisions }: { readonly revisions: readonly RevisionReport[] }): ReactNode {
  return (
    <table className="revisions">
      <thead>
        <tr>
          <th scope="col">Revision</th>
          <th scope="col">Images</th>
          <th scope="col">Role</th>
          <th scope="col">Nodes</th>
          <th scope="col">Created</th>
          <th scope="col">Change cause</th>
        </tr>
      </thead>
      <tbody>
        {revisions.map((revision) => (
          <Row key={revision.revision} revision={revision} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ revision: report }: { readonly revision: RevisionReport }): ReactNode {
  const { revision, number, createdAt, role, held, nodes, images } = report
  return (
    <tr>
      <th scope="row">
        {number} <code className="quiet">{revision}</code>
      </th>
      <td data-label="Images" title={images.join('\n')}>
        <bdi>{images.map(imageVersion).join(', ')}</bdi>
      </td>
      <td data-label="Role">
        <span>
          {held && role === 'none' ? '' : roleWords[role]}
          {held ? (
            <span className="tone-bad" title="It was rolled back: applying it again does not release it until a retry.">
              {' '}
              <span aria-hidden="true">✕</span> blocked
            </span>
          ) : null}
        </span>
      </td>
      <td data-label="Nodes">{nodes}</td>
      <td data-label="Created">
        <Age at={createdAt} />
      </td>
      <td data-label="Change cause">
        <div className="prose">{causeText(report)}</div>
      </td>
    </tr>
  )
}
