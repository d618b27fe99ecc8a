import './session/without-eval.ts'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { DashboardPage } from './shell/dashboard-page.tsx'
import './styles/index.css'

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <DashboardPage />
  </StrictMode>,
)
