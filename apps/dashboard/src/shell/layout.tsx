import { type ReactNode, useState } from 'react'
import { zoneText } from '../format/moment.ts'
import { PlaceLink } from '../parts/place-link.tsx'
import { useNow } from '../parts/use-now.ts'
import type { Place } from '../ports/place.ts'
import type { UserSession } from '../session/session.tsx'
import { Brand } from '../brand/brand.tsx'
import { CommandPalette } from './command-palette.tsx'
import { LiveNote } from './live-note.tsx'
import { useShortcuts } from './use-shortcuts.ts'

/** Properties of {@link Layout}. */
interface LayoutProps {
  readonly session: UserSession
  readonly place: Place
  readonly children: ReactNode
}

/** Header with navigation, state of the live data and user; below it the view. */
export function Layout({ session, place, children }: LayoutProps): ReactNode {
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  useShortcuts({ onPalette: () => setPaletteOpen(true) })
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="top">
        <PlaceLink to={{ view: 'fleet' }} className="brand">
          <Brand />
        </PlaceLink>
        <nav aria-label="Main">
          <NavLink to={{ view: 'fleet' }} place={place}>
            Rollouts
          </NavLink>
          <NavLink to={{ view: 'record' }} place={place}>
            Record
          </NavLink>
          <NavLink to={{ view: 'doctor' }} place={place}>
            Doctor
          </NavLink>
        </nav>
        <LiveNote />
        <button type="button" className="find" onClick={() => setPaletteOpen(true)} aria-keyshortcuts="Control+K /">
          Find… <kbd>Ctrl K</kbd>
        </button>
        <User session={session} />
      </header>
      {children}
      <footer>
        <Zone />
      </footer>
      <CommandPalette isOpen={isPaletteOpen} onClose={() => setPaletteOpen(false)} />
    </>
  )
}

function NavLink({ to, place, children }: { readonly to: Place; readonly place: Place; readonly children: ReactNode }): ReactNode {
  return (
    <PlaceLink to={to} className={to.view === place.view ? 'current' : ''}>
      {children}
    </PlaceLink>
  )
}

function User({ session: { me, signOut } }: { readonly session: UserSession }): ReactNode {
  return (
    <details className="user">
      <summary title={me.username}>
        <bdi>{me.username}</bdi>
      </summary>
      <div>
        <p>
          Signed in as <strong className="prose">{me.username}</strong>
        </p>
        {me.groups.length === 0 ? null : <p className="hint prose">Groups: {me.groups.join(', ')}</p>}
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </div>
    </details>
  )
}

function Zone(): ReactNode {
  return <span className="quiet">Times in {zoneText(useNow())}</span>
}
