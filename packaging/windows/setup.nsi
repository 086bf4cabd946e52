; The setup program, for one user and without rights of an administrator. It removes what
; it wrote and nothing else: wallets and settings, in the same folder, stay.
Unicode true
Target amd64-unicode
!include LogicLib.nsh
Name "Swapkeep {{.Version}}"
OutFile "{{.Out}}"
InstallDir "$LOCALAPPDATA\swapkeep"
RequestExecutionLevel user
SetCompressor /SOLID lzma
AllowSkipFiles off ; a program that cannot be written ends the setup
VIProductVersion "{{.Version}}.0"
VIAddVersionKey "ProductName" "Swapkeep"
VIAddVersionKey "ProductVersion" "{{.Version}}"
VIAddVersionKey "FileVersion" "{{.Version}}"
VIAddVersionKey "FileDescription" "Swapkeep setup"
VIAddVersionKey "LegalCopyright" "The Swapkeep authors"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Swapkeep"
!define MADE "${UNINSTALL}\Keys" ; the registry keys that were made for ours
{{- if .SignScript}}
!uninstfinalize 'sh "{{.SignScript}}" "%1"' = 0
{{- end}}
Page instfiles
UninstPage instfiles
Var Stopped ; what stop said
Var Relay   ; where the programs of the last version are
Var Daemon

!macro refuse words
  MessageBox MB_ICONSTOP "${words}" /SD IDOK
  SetErrorLevel 2
  Quit
!macroend

; The MSI for a user has the same folder and keys: what goes first would take the other's.
Function .onInit
  System::Call 'msi::MsiEnumRelatedProductsW(w "{{"{"}}{{.UpgradeCode}}{{"}"}}", i 0, i 0, w .r0) i .r1'
  ${If} $1 == "0"
    !insertmacro refuse "Swapkeep was installed by its MSI. Update it by that, or remove it in Settings, Apps, and run this again."
  ${EndIf}
FunctionEnd

; The daemon ends after what it is about to sign.
!macro stop
  ${If} ${FileExists} "$INSTDIR\bin\swapkeep.exe"
    nsExec::ExecToStack '"$INSTDIR\bin\swapkeep.exe" stop'
    Pop $0
    Pop $Stopped
  ${EndIf}
!macroend

; Where a daemon was stopped, one goes on: browsers' relays wait for it, and orders too.
!macro goOn
  StrCpy $Stopped $Stopped 21
  ${If} $Stopped == "swapkeepd has stopped"
    Exec '"$INSTDIR\bin\swapkeepd.exe"'
  ${EndIf}
!macroend

; aside moves a program that runs, which can be neither replaced nor removed, to a name that
; none has yet: browsers may hold those of several updates. The daemon sweeps such names.
; Those that nobody holds any more go. $0 is the program; $1 is where it is then, empty
; when it cannot be moved.
!macro aside un
Function ${un}aside
  Delete "$TEMP\$0.*.old"
  StrCpy $1 0
  ${Do}
    IntOp $1 $1 + 1
  ${LoopWhile} ${FileExists} "$TEMP\$0.$1.old"
  StrCpy $1 "$TEMP\$0.$1.old"
  Rename "$INSTDIR\bin\$0" $1
  ${If} ${FileExists} "$INSTDIR\bin\$0"
    Delete $1 ; to another drive it was only copied
    StrCpy $1 ""
  ${EndIf}
FunctionEnd
!macroend
!insertmacro aside ""
!insertmacro aside un.

; What of the way to a key is not there yet is noted, to go with it.
!macro note key
  System::Call 'advapi32::RegOpenKeyExW(p -2147483647, w "${key}", i 0, i 0x20019, *p .r1) i .r0' ; HKEY_CURRENT_USER
  ${If} $0 == "0"
    System::Call 'advapi32::RegCloseKey(p r1)'
  ${Else}
    WriteRegStr HKCU "${MADE}" "${key}" "made"
  ${EndIf}
!macroend

; Both programs are replaced, or none.
Function makeRoom
  StrCpy $0 "swapkeep.exe"
  Call aside
  StrCpy $Relay $1
  ${If} $Relay != ""
    StrCpy $0 "swapkeepd.exe"
    Call aside
    StrCpy $Daemon $1
    ${If} $Daemon == ""
      Rename $Relay "$INSTDIR\bin\swapkeep.exe"
    ${EndIf}
  ${EndIf}
  ${If} $1 == ""
    !insertmacro goOn
    !insertmacro refuse "$INSTDIR\bin\$0 is in use and cannot be moved aside. Close your browsers and run this again."
  ${EndIf}
FunctionEnd

Section
  !insertmacro stop
  Call makeRoom
  SetOutPath "$INSTDIR\bin"
  File "{{.Files}}/bin/swapkeep.exe"
  File "{{.Files}}/bin/swapkeepd.exe"
  Delete /REBOOTOK $Relay
  Delete /REBOOTOK $Daemon
  SetOutPath "$INSTDIR"
  File "{{.Files}}/LICENSE.txt"
  File "{{.Files}}/NOTICE.txt"
{{- range .Families}}
  File "{{$.Files}}/{{$.HostFile .}}"
{{- end}}
{{- range .Hosts}}
{{- range .Parents}}
  !insertmacro note "{{.}}"
{{- end}}
  WriteRegStr HKCU "{{.Key}}" "" "$INSTDIR\{{.File}}"
{{- end}}
  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Swapkeep"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "{{.Version}}"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "Swapkeep"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  !insertmacro goOn
SectionEnd

; A browser's relay looks for the daemon for 10 seconds and ends. Whoever holds the program
; longer keeps it under another name. $0 is the program.
Function un.remove
  Delete "$TEMP\$0.*.old"
  ${For} $2 1 24
    Delete "$INSTDIR\bin\$0"
    ${IfNot} ${FileExists} "$INSTDIR\bin\$0"
      Return
    ${EndIf}
    Sleep 500
  ${Next}
  Call un.aside
  ${If} $1 == ""
    !insertmacro refuse "$INSTDIR\bin\$0 is in use and cannot be moved aside. Close your browsers and remove Swapkeep again."
  ${EndIf}
  Delete /REBOOTOK $1
FunctionEnd

; Browsers' way in goes first, so that none starts a program again; the way to remove it goes last.
Section Uninstall
{{- range .Hosts}}
  ReadRegStr $0 HKCU "{{.Key}}" ""
  ${If} $0 == "$INSTDIR\{{.File}}"
    DeleteRegKey HKCU "{{.Key}}"
  ${EndIf}
{{- range .Parents}}
  ReadRegStr $0 HKCU "${MADE}" "{{.}}"
  ${If} $0 == "made"
    DeleteRegKey /ifempty HKCU "{{.}}"
  ${EndIf}
{{- end}}
{{- end}}
  !insertmacro stop
  StrCpy $0 "swapkeep.exe"
  Call un.remove
  StrCpy $0 "swapkeepd.exe"
  Call un.remove
  RMDir "$INSTDIR\bin"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\NOTICE.txt"
{{- range .Families}}
  Delete "$INSTDIR\{{$.HostFile .}}"
{{- end}}
  DeleteRegKey HKCU "${UNINSTALL}"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
SectionEnd
