import type { WishBody, WishType } from '@tranche/api-schema'
import { refused, type Wish, type WishRefusal } from './wish.ts'

/** Members that belong to some types alone. */
const onlyFor: readonly { readonly member: keyof WishBody; readonly types: readonly WishType[] }[] = [
  { member: 'step', types: ['jump'] },
  { member: 'full', types: ['promote'] },
  { member: 'toRevision', types: ['undo'] },
]

/** Members without which a wish of that type is no guard against a second one. */
const needed: readonly { readonly member: keyof WishBody; readonly types: readonly WishType[] }[] = [
  { member: 'expectedStep', types: ['approve', 'jump'] },
  { member: 'step', types: ['jump'] },
]

/** What a wish lacks, or says and must not; null where its body fits its type. */
export function misplacedMember({ type, body }: Wish): WishRefusal | null {
  for (const { member, types } of onlyFor)
    if (body[member] !== undefined && !types.includes(type))
      return invalid(
        member,
        `${member} is ${JSON.stringify(body[member])}: only ${types.join(' and ')} has it, and not ${type}`,
        `leave ${member} out`,
      )
  for (const { member, types } of needed)
    if (body[member] === undefined && types.includes(type))
      return invalid(member, `${type} does not say ${member}`, `say ${neededText[member] ?? member}`)
  return null
}

const neededText: Partial<Readonly<Record<keyof WishBody, string>>> = {
  expectedStep: 'expectedStep, the step at which you see the release: so two people never leave two steps',
  step: 'step, the step to go to',
}

function invalid(path: keyof WishBody, message: string, fix: string): WishRefusal {
  return { ...refused('WISH_INVALID', message, fix), path }
}
