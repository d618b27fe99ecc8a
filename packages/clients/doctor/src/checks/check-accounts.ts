import type { DoctorFinding } from '@tranche/api-schema'
import { rightText } from '../signs/access-right.ts'
import type { AccountSign } from '../signs/account-signs.ts'
import type { ClusterSigns } from '../signs/cluster-signs.ts'
import { isDenied } from '../signs/guarded-reads.ts'
import { notLookedAt } from './not-looked-at.ts'

/** Maximum number of missing permissions that are listed; the rest is counted. */
const MOST_LISTED = 6
const FIX =
  'helm upgrade restores the permissions of the chart; with rbac.create: false, bind the rules of docs/operations/permissions.md to the service account.'

/** Checks the permissions of the service accounts; no finding if the chart has no pods. Pure. */
export function accountFindings({ accounts }: Pick<ClusterSigns, 'accounts'>): readonly DoctorFinding[] {
  if (isDenied(accounts)) return [notLookedAt('accounts', accounts)]
  if ('tooMany' in accounts) {
    const message = `not checked: pods with the labels of the chart need more than ${accounts.tooMany} permissions`
    return [{ check: 'accounts', state: 'unknown', message }]
  }
  if (accounts.length === 0) return []
  const lacking = accounts.filter(({ missing }) => missing.length > 0)
  if (lacking.length > 0) return [{ check: 'accounts', state: 'problem', message: lacking.map(lackText).join('; '), fix: FIX }]
  const asked = accounts.reduce((sum, one) => sum + one.asked, 0)
  const names = accounts.map(({ account }) => account).join(', ')
  return [{ check: 'accounts', state: 'ok', message: `${names} have all ${asked} permissions that the processes need` }]
}

function lackText({ account, components, missing, asked }: AccountSign): string {
  const subject = `the service account ${account} of ${components.join(' and ')}`
  if (missing.length === asked) return `${subject} has none of the ${asked} permissions that it needs`
  const listed = missing.slice(0, MOST_LISTED).map(rightText)
  const more = missing.length - listed.length
  return `${subject} may not ${listed.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}
