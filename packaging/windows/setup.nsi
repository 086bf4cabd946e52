; The setup program, for one user and without rights of an administrator. It removes what
; it wrote and nothing else: wallets and settings, in the same folder, stay.
Unicode true
Target amd64-unicode
Name "Swapkeep {{.Version}}"
OutFile "{{.Out}}"
InstallDir "$LOCALAPPDATA\swapkeep"
RequestExecutionLevel user
SetCompressor /SOLID lzma
VIProductVersion "{{.Version}}.0"
VIAddVersionKey "ProductName" "Swapkeep"
VIAddVersionKey "ProductVersion" "{{.Version}}"
VIAddVersionKey "FileVersion" "{{.Version}}"
VIAddVersionKey "FileDescription" "Swapkeep setup"
VIAddVersionKey "LegalCopyright" "The Swapkeep authors"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Swapkeep"
Page instfiles
UninstPage instfiles

; A program that runs cannot be replaced, but it can be moved aside.
!macro aside name
  Delete "$INSTDIR\bin\${name}.old"
  Rename "$INSTDIR\bin\${name}" "$INSTDIR\bin\${name}.old"
  Delete "$INSTDIR\bin\${name}.old"
!macroend

!macro remove name
  Delete "$INSTDIR\bin\${name}"
  Delete "$INSTDIR\bin\${name}.old"
!macroend

; The daemon ends after what it is about to sign.
!macro stop
  IfFileExists "$INSTDIR\bin\swapkeep.exe" 0 +3
  nsExec::Exec '"$INSTDIR\bin\swapkeep.exe" stop'
  Pop $0
!macroend

Section
  !insertmacro stop
  !insertmacro aside swapkeep.exe
  !insertmacro aside swapkeepd.exe
  SetOutPath "$INSTDIR\bin"
  File "{{.Files}}/bin/swapkeep.exe"
  File "{{.Files}}/bin/swapkeepd.exe"
  SetOutPath "$INSTDIR"
  File "{{.Files}}/LICENSE.txt"
  File "{{.Files}}/NOTICE.txt"
{{- range .Families}}
  File "{{$.Files}}/{{$.HostFile .}}"
{{- end}}
{{- range .Hosts}}
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
SectionEnd

Section Uninstall
  !insertmacro stop
  !insertmacro remove swapkeep.exe
  !insertmacro remove swapkeepd.exe
  RMDir "$INSTDIR\bin"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\NOTICE.txt"
{{- range .Families}}
  Delete "$INSTDIR\{{$.HostFile .}}"
{{- end}}
{{- range .Hosts}}
  ReadRegStr $0 HKCU "{{.Key}}" ""
  StrCmp $0 "$INSTDIR\{{.File}}" 0 +2
  DeleteRegKey HKCU "{{.Key}}"
{{- end}}
  DeleteRegKey HKCU "${UNINSTALL}"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
SectionEnd
